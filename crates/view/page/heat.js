// Time as a map: a column is a stretch of time, a row an offset in it, so that what happens every so often is a line.
import { ask } from './data.js';
import { el } from './dom.js';
import { chosenRanges } from './range.js';
import { set } from './state.js';
import { amount, duration } from './text.js';

const ROWS = 20, CELL = 6, LEAST_WIDTH = 7;

/** @type {any} */
let answer = null;
let left = 0, wide = 1;
/** Cells that are being dragged over, by their numbers in order of time. @type {[number, number] | null} */
let dragged = null;
/** The cell that keys move, and where they began to choose. */
let cursor = -1, anchor = -1;
/** @type {(text: string) => void} */
let tell = () => {};

const canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img' }));
const hottest = el('div', { class: 'hottest', role: 'group', 'aria-label': 'Hottest stretches' });
export const element = el('div', { class: 'heat' }, canvas, hottest);

/** @param {(text: string) => void} said where hints go */
export function start(said) {
  tell = said;
  canvas.addEventListener('pointerdown', begin);
  canvas.addEventListener('pointermove', event => tell(about(cellAt(event))));
  canvas.addEventListener('dblclick', () => set({ from: '', to: '' }));
  canvas.addEventListener('keydown', keys);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

/** Fetches the map and draws it. @param {number} width @param {number} margin */
export async function show(width, margin) {
  left = margin;
  const columns = Math.max(10, Math.floor(width / LEAST_WIDTH));
  answer = await ask('strip', 'heat', { columns, rows: ROWS });
  wide = width / Math.max(1, answer.cells.length);
  hottest.replaceChildren(...answer.hottest.map((/** @type {any} */ one) => el('button', {
    type: 'button', title: 'Choose this stretch', onclick: () => set({ from: String(one.from_ns), to: String(one.to_ns) }),
  }, `${duration(one.from_ns)} to ${duration(one.to_ns)}: ${amount(one.total, answer)}`)));
  tell(about(-1));
  draw();
}

/** Times of a cell, in ns since the first sample; both ends belong to it. @param {number} cell @returns {[number, number]} */
function times(cell) {
  const column = Math.floor(cell / ROWS) * answer.column_ns - answer.before_ns, row = cell % ROWS;
  const offset = (/** @type {number} */ nr) => Math.min(nr * answer.cell_ns, answer.column_ns);
  return [column + offset(row), column + offset(row + 1) - 1];
}

const style = () => getComputedStyle(canvas);
/** @param {string} name */
const colour = name => style().getPropertyValue('--' + name).trim();

function draw() {
  if (!answer || !element.isConnected) return;
  const scale = devicePixelRatio || 1, high = ROWS * CELL + 2, all = canvas.clientWidth;
  canvas.width = all * scale;
  canvas.height = high * scale;
  canvas.style.height = high + 'px';
  canvas.setAttribute('aria-label', `Map of samples: ${answer.cells.length} columns of ${duration(answer.column_ns)}`);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  pen.fillStyle = colour('text');
  pen.fillText(`offset in ${duration(answer.column_ns)}`, 6, 12, left - 12);
  pen.fillStyle = colour('faint');
  pen.textAlign = 'right';
  pen.fillText('0', left - 6, 10);
  pen.fillText(duration(answer.column_ns), left - 6, high - 4);
  const most = answer.cells.flat().reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 1);
  const ranges = dragged ? [[times(dragged[0])[0], times(dragged[1])[1]]] : chosenRanges(answer), hot = colour('hottest'), empty = colour('card');
  answer.cells.forEach((/** @type {number[]} */ column, /** @type {number} */ x) => column.forEach((value, y) => {
    const [from, to] = times(x * ROWS + y), isChosen = !ranges || ranges.some(range => to >= range[0] && from <= range[1]);
    pen.globalAlpha = 1;
    pen.fillStyle = empty;
    pen.fillRect(left + x * wide, y * CELL, wide, CELL);
    // The root makes few samples differ from none.
    pen.globalAlpha = value ? Math.sqrt(value / most) * (isChosen ? 1 : 0.25) : 0;
    pen.fillStyle = hot;
    pen.fillRect(left + x * wide, y * CELL, Math.max(1, wide - 0.5), CELL - 0.5);
  }));
  pen.globalAlpha = 1;
  if (cursor >= 0) {
    pen.strokeStyle = colour('strong');
    pen.lineWidth = 2;
    pen.strokeRect(left + Math.floor(cursor / ROWS) * wide, cursor % ROWS * CELL, Math.max(3, wide), CELL);
  }
}

/** @param {MouseEvent} event */
function cellAt(event) {
  const column = Math.floor((event.offsetX - left) / wide), row = Math.max(0, Math.min(ROWS - 1, Math.floor(event.offsetY / CELL)));
  return answer && column >= 0 && column < answer.cells.length ? column * ROWS + row : -1;
}

/** @param {PointerEvent} event */
function begin(event) {
  const first = cellAt(event);
  if (first < 0) return;
  canvas.setPointerCapture(event.pointerId);
  /** @param {PointerEvent} move */
  const onMove = move => {
    const last = cellAt(move);
    if (last >= 0) dragged = first < last ? [first, last] : [last, first];
    draw();
  };
  canvas.addEventListener('pointermove', onMove);
  canvas.addEventListener('pointerup', () => {
    canvas.removeEventListener('pointermove', onMove);
    choose(dragged ?? [first, first]);
    dragged = null;
  }, { once: true });
}

/** @param {number[]} cells the first and the last */
const choose = ([first, last]) => set({ from: String(Math.max(0, times(first)[0])), to: String(times(last)[1]) });

/** @param {KeyboardEvent} event */
function keys(event) {
  const by = { ArrowLeft: -ROWS, ArrowRight: ROWS, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (by === undefined && event.key !== 'Enter' || !answer?.cells.length) return;
  event.preventDefault();
  event.stopPropagation();
  if (by === undefined) return choose(anchor < 0 || anchor === cursor ? [cursor, cursor] : [Math.min(anchor, cursor), Math.max(anchor, cursor)]);
  if (!event.shiftKey) anchor = -1;
  else if (anchor < 0) anchor = cursor;
  cursor = Math.max(0, Math.min(answer.cells.length * ROWS - 1, cursor < 0 ? 0 : cursor + by));
  if (anchor >= 0) dragged = [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  draw();
  dragged = null;
  tell(about(cursor));
}

/** @param {number} cell */
function about(cell) {
  if (!answer || cell < 0) return 'A column is a stretch of time, a row an offset in it. Drag to choose a range; arrows, Shift and Enter do without a mouse.';
  const [from, to] = times(cell), value = answer.cells[Math.floor(cell / ROWS)][cell % ROWS];
  return `${duration(Math.max(0, from))} to ${duration(Math.max(0, to))}: ${amount(value, answer)}`;
}
