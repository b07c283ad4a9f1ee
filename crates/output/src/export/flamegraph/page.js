// What a page can do with the picture that it has around it.
const PAD = 6;

function layout() {
  frames.setAttribute('transform', `translate(${EDGE},${PAD})`);
  svg.setAttribute('height', rowCount * ROW + 2 * PAD);
  draw();
}

function update() {
  draw();
  host.changed();
}

const tellOf = text => host.tell(text);
const bringIntoSight = i => drawn.get(i)?.scrollIntoView({ block: 'nearest' });

// From the outermost frame to this one: which calls lead there.
function pathTo(i) {
  const path = [];
  for (let k = i; k > 0; k = parent[k]) path.push(data.key[name[k]]);
  return path.reverse();
}

// The frame to which a path leads, or the last one on the way that is there.
function frameOf(path) {
  let i = 0;
  for (const key of path) {
    let k = i + 1;
    while (k < end[i] && data.key[name[k]] !== key) k = end[k];
    if (k >= end[i]) return i;
    i = k;
  }
  return i;
}

svg.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = keyOfFrames(event);
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
});
layout();

return {
  state, layout, zoomTo, search, matched, vanished, legend: () => legend().colours, weightsOf: i => weights.map(weight => weight[i]), nextMatch, update, lineAbout, pathTo, frameOf, focusOn, focusFrames: () => frames.focus({ preventScroll: true }),
  act: key => key === 'outward' ? move(state.inverted ? 'ArrowDown' : 'ArrowUp') : FRAME_KEYS[key]?.(),
  about: i => ({ name: nameOf(i), binary: data.binaries[binary[i]], isFunction: sort[i] > THREAD && sort[i] !== LEFT_OUT, named: data.named[i] === 1 }),
  remove: () => { tip.remove(); svg.replaceChildren(); },
};
