
// The picture: what is wide enough to be seen, drawn anew for every zoom.
const ROW = 18, EDGE = 10, NARROW = 0.5, THIN = 10, NAMED = 26;
const SVG = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';

function make(space, tag, attributes, text) {
  const element = document.createElementNS(space, tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

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
const rowOf = i => state.inverted ? depth[i] : rowCount - 1 - depth[i];
const viewWidth = () => Math.max(80, host.width() - 2 * EDGE);
const inZoom = i => i >= state.zoom && i < end[state.zoom];

// Where a frame lies from left to right, in pixels. Callers of what is zoomed are as wide as the picture.
function span(i) {
  const width = viewWidth(), start = starts[state.side], weight = weights[state.side], zoomed = weight[state.zoom];
  if (i < state.zoom) return state.zoom < end[i] ? [0, width] : [0, 0];
  if (!inZoom(i) || !(zoomed > 0)) return [0, 0];
  const from = start[i] - start[state.zoom];
  return [from / zoomed * width, Math.max(0, Math.min(weight[i], zoomed - from)) / zoomed * width];
}

// The frame at a place of the picture, in pixels.
function frameAt(x, y) {
  const row = Math.floor(y / ROW), inRow = rows[state.inverted ? row : rowCount - 1 - row] || [];
  if (depth[state.zoom] > (inRow.length ? depth[inRow[0]] : Infinity))
    return inRow.find(i => i < state.zoom && state.zoom < end[i]);
  let low = 0, high = inRow.length;
  while (low < high) {
    const middle = (low + high) >> 1, i = inRow[middle];
    const [from, width] = span(i);
    if (inZoom(i) && x >= from && x < from + width) return i;
    if (i < state.zoom || (inZoom(i) && from + width <= x)) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

function classOf(i, faded) {
  return colorOf(i) + (faded ? ' faded' : '') + (isHit(i) ? ' hit' : '') + (isGone(i) ? ' gone' : '');
}

function drawFrame(into, i, x, width, faded) {
  const y = rowOf(i) * ROW;
  const box = make(SVG, 'rect', {
    id: 'f' + i, class: classOf(i, faded), x: x.toFixed(2), y, width: width.toFixed(2), height: ROW - 1,
    rx: width > 6 ? 2 : 0, role: 'treeitem', 'aria-level': depth[i] + 1, 'aria-label': lineAbout(i),
  });
  box.frame = i;
  into.append(box);
  drawn.set(i, box);
  if (width < NAMED) return;
  const shown = shorten(nameOf(i), data.forms[name[i]], Math.floor((width - 8) / letter));
  into.append(make(SVG, 'text', { class: 'name', x: (x + 4).toFixed(2), y: y + 13, 'aria-hidden': 'true' }, shown));
}

// Frames that are narrow are drawn together, one path a colour: thousands of them cost little.
function drawThin(into, thin) {
  for (const [kind, path] of thin)
    into.append(make(SVG, 'path', { class: kind + ' thin', d: path.join(''), 'aria-hidden': 'true' }));
}

// Where there is room for it, a gap tells neighbours apart.
const lineOf = (x, row, width) => {
  const wide = width < 3 ? width : width - 0.6;
  return `M${x.toFixed(2)} ${row * ROW}h${wide.toFixed(2)}v${ROW - 1}h${(-wide).toFixed(2)}z`;
};

function draw() {
  const weight = weights[state.side];
  const into = document.createDocumentFragment(), thin = new Map();
  const addThin = (kind, x, row, width) => {
    if (!thin.has(kind)) thin.set(kind, []);
    thin.get(kind).push(lineOf(x, row, width));
  };
  // Frames too narrow to be seen one by one become one box, so that the picture has no holes: by row, from and to.
  const slivers = new Map();
  const flush = row => {
    const [from, to] = slivers.get(row) || [0, 0];
    if (to - from >= NARROW) addThin('sliver', from, row, to - from);
    slivers.delete(row);
  };
  drawn = new Map();
  const callers = [];
  for (let i = parent[state.zoom]; i >= 0; i = parent[i]) callers.push(i);
  callers.reverse().forEach(i => drawFrame(into, i, 0, viewWidth(), true));
  for (let i = state.zoom; weight[state.zoom] > 0 && i < end[state.zoom];) {
    const [x, width] = span(i), row = rowOf(i);
    if (width >= THIN || i === state.focus) {
      drawFrame(into, i, x, width, false);
    } else if (width >= NARROW) {
      addThin(classOf(i, false), x, row, width);
    } else {
      const last = slivers.get(row);
      if (last && x - last[1] < NARROW) {
        last[1] = x + width;
      } else {
        flush(row);
        slivers.set(row, [x, x + width]);
      }
      i = end[i];
      continue;
    }
    i++;
  }
  [...slivers.keys()].forEach(flush);
  drawThin(into, thin);
  frames.replaceChildren(into);
  frames.classList.toggle('searching', state.hits !== null);
  markFocus();
}

function markFocus() {
  frames.querySelectorAll('.focused').forEach(box => box.classList.remove('focused'));
  const box = drawn.get(state.focus);
  if (box && (document.activeElement === frames || state.match >= 0)) {
    box.classList.add('focused');
    frames.setAttribute('aria-activedescendant', box.id);
  } else {
    frames.removeAttribute('aria-activedescendant');
  }
}

// The box of hints beside the pointer. In a page it floats; in a picture it needs an element that may hold HTML.
const tip = make(XHTML, 'div', { id: 'flame-tip', role: 'tooltip' });
let tipHolder = null;
if (host.inPage) {
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
  const side = state.side, lines = [], of = data.binaries[binary[i]];
  const kind = KINDS[sort[i]] ?? (inlined[i] ? 'inlined, ' : '') + (of || data.sorts[sort[i]])
    + (sort[i] === 4 ? ' · kernel' : sort[i] === 5 ? ' · JIT' : '');
  tip.replaceChildren(make(XHTML, 'b', {}, nameOf(i)));
  if (kind) tip.append(make(XHTML, 'div', { class: 'kind' }, kind));
  if (data.places[place[i]]) tip.append(make(XHTML, 'div', { class: 'kind' }, data.places[place[i]]));
  if (data.differs) {
    const line = make(XHTML, 'div', {}, percent(share(i, 1)) + ' → ' + percent(share(i, 0)) + ', ');
    line.append(make(XHTML, 'span', { class: change(i) >= 0 ? 'more' : 'less' }, isGone(i) ? 'vanished' : points(change(i))));
    tip.append(line);
    for (const [nr, name] of [[0, 'new'], [1, 'base']]) lines.push(name + ': ' + amounts(i, nr));
  } else {
    let line = percent(share(i, side));
    if (state.zoom > 0 && i >= state.zoom && i < end[state.zoom])
      line += ' · ' + percent(weights[side][i] / weights[side][state.zoom]) + ' of what is zoomed';
    lines.push(line, amounts(i, side));
  }
  if (sort[i] !== LEFT_OUT && owns[side][i] > 0)
    lines.push('itself: ' + percent(owns[side][i] / weights[side][0]) + ', ' + amount(owns[side][i], data.weight));
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
