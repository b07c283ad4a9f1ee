// Going about in the picture: zoom, pointer, keys. What is around it redraws (`update`), says a line (`tellOf`), and scrolls
// (`bringIntoSight`).
function zoomTo(i) {
  if (sort[i] === LEFT_OUT || weights[state.side][i] === 0) return;
  state.zoom = i;
  state.focus = i;
  update();
}

// Moves to a frame; a hidden one comes into sight by zooming to the nearest caller in which it is wide enough.
function focusOn(i) {
  if (i < 0) return;
  state.focus = i;
  if (drawn.has(i)) markFocus();
  else if (span(i)[1] >= NARROW) draw();
  else zoomTo(i);
  bringIntoSight(i);
  tellOf(lineAbout(i));
}

function move(key) {
  const i = state.focus, weight = weights[state.side], outward = state.inverted ? 'ArrowDown' : 'ArrowUp';
  const siblings = j => {
    const list = [];
    for (let k = parent[j] + 1; parent[j] >= 0 && k < end[parent[j]]; k = end[k]) if (weight[k] > 0) list.push(k);
    return list;
  };
  if (key === outward) {
    const calls = end[i] > i + 1 ? siblings(i + 1) : [];
    focusOn(calls.reduce((best, k) => best < 0 || weight[k] > weight[best] ? k : best, -1));
  } else if (key === 'ArrowUp' || key === 'ArrowDown') {
    focusOn(parent[i]);
  } else {
    const list = siblings(i);
    focusOn(list[list.indexOf(i) + (key === 'ArrowRight' ? 1 : -1)] ?? -1);
  }
}

function nextMatch(back) {
  const many = state.matches.length;
  if (!many) return;
  state.match = state.match < 0 ? (back ? many - 1 : 0) : (state.match + (back ? many - 1 : 1)) % many;
  focusOn(state.matches[state.match]);
  tellOf(`Match ${grouped(state.match + 1)} of ${grouped(many)}: ` + lineAbout(state.focus));
}

const FRAME_KEYS = {
  Enter: () => zoomTo(state.focus),
  ' ': () => zoomTo(state.focus),
  Backspace: () => zoomTo(Math.max(0, parent[state.zoom])),
  Home: () => focusOn(0),
};
for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']) FRAME_KEYS[key] = () => move(key);

// What a key does while the frames have the focus.
const keyOfFrames = event => document.activeElement === frames ? FRAME_KEYS[event.key] : undefined;

// A box knows its frame; among the lines the place decides.
const frameUnder = event => {
  if (event.target.frame !== undefined) return event.target.frame;
  const at = svg.getBoundingClientRect(), [, top] = frames.getAttribute('transform').match(/,([0-9.]+)/);
  return frameAt(event.clientX - at.left - EDGE, event.clientY - at.top - Number(top));
};

frames.addEventListener('click', event => {
  const i = frameUnder(event);
  if (i !== undefined) zoomTo(i);
});
frames.addEventListener('mousemove', event => {
  const i = frameUnder(event);
  if (i === undefined) return hideTip();
  showTip(i, event.clientX, event.clientY);
});
frames.addEventListener('mouseleave', hideTip);
frames.addEventListener('focus', markFocus);
frames.addEventListener('blur', markFocus);

