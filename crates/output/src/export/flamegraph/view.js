
// The picture: what is wide enough to be seen, drawn anew for every zoom.
const ROW = 18, EDGE = 10, NARROW = 0.5, NAMED = 26;
const SVG = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';
const svg = document.getElementById('flamegraph');
const inPage = data.page === 'html';

function make(space, tag, attributes, text) {
  const element = document.createElementNS(space, tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

document.getElementById('flame-still').remove();
svg.setAttribute('role', 'group');
const frames = make(SVG, 'g', { id: 'flame-frames', role: 'tree', tabindex: '0', 'aria-label': 'Frames' });
svg.append(frames);

const letter = (() => {
  const probe = make(SVG, 'text', { class: 'name' }, 'M'.repeat(100));
  frames.append(probe);
  const width = probe.getComputedTextLength() / 100;
  probe.remove();
  return width || 7.2;
})();

let drawn = new Map();
const rowOf = i => state.inverted ? data.depth[i] : data.rows - 1 - data.depth[i];
const viewWidth = () => Math.max(80, document.documentElement.clientWidth - 2 * EDGE);

function drawFrame(into, i, x, width, faded) {
  const y = rowOf(i) * ROW;
  let kind = colorOf(i);
  if (faded) kind += ' faded';
  if (isHit(i)) kind += ' hit';
  if (isGone(i)) kind += ' gone';
  if (width < 3) kind += ' thin';
  const box = make(SVG, 'rect', {
    id: 'f' + i, class: kind, x: x.toFixed(2), y, width: width.toFixed(2), height: ROW - 1, rx: width > 6 ? 2 : 0,
    role: 'treeitem', 'aria-level': data.depth[i] + 1, 'aria-label': lineAbout(i),
  });
  box.frame = i;
  into.append(box);
  drawn.set(i, box);
  if (width < NAMED) return;
  const name = nameOf(i), room = Math.floor((width - 8) / letter);
  const shown = name.length <= room ? name : Array.from(name).slice(0, Math.max(0, room - 1)).join('') + '…';
  into.append(make(SVG, 'text', { class: 'name', x: (x + 4).toFixed(2), y: y + 13, 'aria-hidden': 'true' }, shown));
}

// Frames too narrow to be seen one by one become one box a row, so that the picture has no holes.
function drawSlivers(into, slivers) {
  for (const [row, runs] of slivers) {
    for (const [from, to] of runs) {
      if (to - from < NARROW) continue;
      into.append(make(SVG, 'rect', {
        class: 'sliver', x: from.toFixed(2), y: row * ROW, width: (to - from).toFixed(2), height: ROW - 1,
      }));
    }
  }
}

function draw() {
  const weight = weights[state.side], start = starts[state.side];
  const width = viewWidth(), zoomed = weight[state.zoom];
  const into = document.createDocumentFragment(), slivers = new Map();
  drawn = new Map();
  for (let i = parent[state.zoom]; i >= 0; i = parent[i]) drawFrame(into, i, 0, width, true);
  const right = start[state.zoom] + zoomed;
  for (let i = state.zoom; zoomed > 0 && i < end[state.zoom];) {
    const x = (start[i] - start[state.zoom]) / zoomed * width;
    const wide = Math.min(weight[i], right - start[i]) / zoomed * width;
    if (wide >= NARROW) {
      drawFrame(into, i, x, wide, false);
      i++;
      continue;
    }
    if (wide > 0) {
      const runs = slivers.get(rowOf(i)) || [], last = runs[runs.length - 1];
      if (last && x - last[1] < NARROW) last[1] = x + wide;
      else runs.push([x, x + wide]);
      slivers.set(rowOf(i), runs);
    }
    i = end[i];
  }
  drawSlivers(into, slivers);
  frames.replaceChildren(into);
  frames.classList.toggle('searching', state.hits !== null);
  markFocus();
}

function markFocus() {
  frames.querySelectorAll('.focused').forEach(box => box.classList.remove('focused'));
  const box = drawn.get(state.focus);
  if (box && document.activeElement === frames) {
    box.classList.add('focused');
    frames.setAttribute('aria-activedescendant', box.id);
  } else {
    frames.removeAttribute('aria-activedescendant');
  }
}

// The box of hints beside the pointer. In a page it floats; in a picture it needs an element that may hold HTML.
const tip = make(XHTML, 'div', { id: 'flame-tip', role: 'tooltip' });
let tipHolder = null;
if (inPage) {
  document.body.append(tip);
} else {
  tipHolder = make(SVG, 'foreignObject', { width: 600, height: 420, style: 'pointer-events:none;overflow:visible' });
  tip.style.position = 'absolute';
  tipHolder.append(tip);
  svg.append(tipHolder);
}
tip.style.display = 'none';

const KINDS = { 0: '', 1: 'thread', 7: 'too small to be shown' };

function fillTip(i) {
  const side = state.side, lines = [], binary = data.binaries[data.binary[i]];
  const kind = KINDS[data.sort[i]] ?? (data.inlined[i] ? 'inlined, ' : '') + (binary || data.sorts[data.sort[i]])
    + (data.sort[i] === 4 ? ' · kernel' : data.sort[i] === 5 ? ' · JIT' : '');
  tip.replaceChildren(make(XHTML, 'b', {}, nameOf(i)));
  if (kind) tip.append(make(XHTML, 'div', { class: 'kind' }, kind));
  if (data.differs) {
    const by = change(i) * 100, text = (by >= 0 ? '+' : '−') + Math.abs(by).toFixed(2) + ' points';
    const line = make(XHTML, 'div', {}, percent(share(i, 1)) + ' → ' + percent(share(i, 0)) + ', ');
    line.append(make(XHTML, 'span', { class: by >= 0 ? 'more' : 'less' }, isGone(i) ? 'vanished' : text));
    tip.append(line);
    for (const [nr, name] of [[0, 'new'], [1, 'base']])
      lines.push(name + ': ' + grouped(weights[nr][i]) + ' ' + unit(data.weight) + ', ' + grouped(others[nr][i]) + ' ' + unit(data.other));
  } else {
    let line = percent(share(i, side));
    if (state.zoom > 0 && i >= state.zoom && i < end[state.zoom])
      line += ' · ' + percent(weights[side][i] / weights[side][state.zoom]) + ' of what is zoomed';
    lines.push(line, grouped(weights[side][i]) + ' ' + unit(data.weight) + ', ' + grouped(others[side][i]) + ' ' + unit(data.other));
  }
  if (data.sort[i] !== LEFT_OUT && owns[side][i] > 0)
    lines.push('itself: ' + percent(owns[side][i] / weights[side][0]) + ', ' + grouped(owns[side][i]) + ' ' + unit(data.weight));
  lines.forEach(line => tip.append(make(XHTML, 'div', {}, line)));
}

function showTip(i, x, y) {
  fillTip(i);
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth, high = window.innerHeight;
  const left = x + 14 + box.width > wide ? Math.max(4, x - box.width - 14) : x + 14;
  const top = y + 18 + box.height > high ? Math.max(4, y - box.height - 12) : y + 18;
  if (tipHolder) {
    const at = svg.getBoundingClientRect();
    tipHolder.setAttribute('x', left - at.left);
    tipHolder.setAttribute('y', top - at.top);
  } else {
    tip.style.left = left + 'px';
    tip.style.top = top + 'px';
  }
}

const hideTip = () => { tip.style.display = 'none'; };
