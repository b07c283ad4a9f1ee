// Time: how many samples there were, of everything and of the busiest threads. A range that is dragged is what counts from then on.
import { ask } from './data.js';
import { byId, el } from './dom.js';
import { get, set } from './state.js';
import { has, isFile } from './stored.js';
import { duration, grouped, percent, shareOf } from './text.js';

const HIGH = 34, ROW = 20, NAMES = 190;

/** @type {any} */
let answer = null;
/** What is seen of the time, in ns since the first sample. @type {[number, number]} */
let seen = [0, 1];
/** The range that is being dragged. @type {[number, number] | null} */
let dragged = null;
let wanted = 0;

const canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img' }));
const line = el('div', { class: 'note', role: 'status' });
const stack = el('div', { class: 'stack', hidden: true });

/** Puts the strip into the page. */
export function start() {
  byId('strip').append(canvas, line, stack);
  canvas.addEventListener('pointermove', event => { line.textContent = about(event); });
  if (isFile) {
    canvas.addEventListener('click', event => { if (event.offsetX < NAMES) chooseTrack(event); });
  } else {
    canvas.addEventListener('pointerdown', begin);
    canvas.addEventListener('wheel', zoom, { passive: false });
    canvas.addEventListener('dblclick', () => set({ from: '', to: '', seen: '' }));
    canvas.addEventListener('keydown', keys);
  }
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

/** Fetches what is seen and draws it. */
export async function show() {
  const [from, to] = get('seen').split('-').map(Number);
  const got = await ask('strip', 'time', { buckets: Math.max(50, Math.floor(plotWidth() / 2)), seen: get('seen') });
  // What a single thread did is what all did.
  answer = { ...got, tracks: got.tracks.length > 1 ? got.tracks : [] };
  seen = get('seen') && to > from ? [from, to] : [0, Math.max(1, answer.length_ns)];
  draw();
}

const plotWidth = () => Math.max(100, canvas.clientWidth - NAMES);
/** @param {number} x */
const timeAt = x => seen[0] + Math.max(0, Math.min(1, (x - NAMES) / plotWidth())) * (seen[1] - seen[0]);
/** @param {number} ns */
const placeOf = ns => NAMES + (ns - seen[0]) / (seen[1] - seen[0]) * plotWidth();

/** The colours of the page. */
function colours() {
  const style = getComputedStyle(canvas);
  /** @param {string} name */
  const of = name => style.getPropertyValue('--' + name).trim();
  return { user: of('user'), kernel: of('kernel'), text: of('text'), faint: of('faint'), edge: of('edge'), veil: of('veil'), pale: of('pale') };
}

/** Draws everything. */
export function draw() {
  if (!answer) return;
  const high = HIGH + answer.tracks.length * ROW, scale = devicePixelRatio || 1, wide = canvas.clientWidth;
  canvas.width = wide * scale;
  canvas.height = high * scale;
  canvas.style.height = high + 'px';
  canvas.setAttribute('aria-label', `Samples over ${duration(seen[1] - seen[0])}; ${answer.tracks.length} threads`);
  const pen = canvas.getContext('2d'), colour = colours();
  if (!pen) return;
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  track(pen, colour, 'all', answer, 0, HIGH);
  answer.tracks.forEach((/** @type {any} */ one, /** @type {number} */ at) =>
    track(pen, colour, `${one.comm} ${one.tid}`, one, HIGH + at * ROW, ROW));
  const range = dragged ?? chosenRange();
  if (range) veil(pen, colour, range, high);
}

/** @returns {[number, number] | null} */
const chosenRange = () => get('from') || get('to') ? [Number(get('from') || 0), get('to') ? Number(get('to')) : answer.length_ns] : null;

/** @param {CanvasRenderingContext2D} pen @param {any} colour @param {string} name @param {any} one @param {number} top @param {number} high */
function track(pen, colour, name, one, top, high) {
  pen.fillStyle = colour.text;
  pen.fillText(name, 6, top + high / 2, NAMES - 12);
  const most = one.all.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 1), wide = plotWidth() / one.all.length;
  // What is not chosen is pale; of what is, the kernel stands at the foot.
  for (const [list, fill] of [[one.all, colour.pale], [one.samples, colour.user], [one.kernel, colour.kernel]]) {
    if (!list) continue;
    pen.fillStyle = fill;
    list.forEach((/** @type {number} */ count, /** @type {number} */ at) => {
      const size = count / most * (high - 4);
      if (size > 0) pen.fillRect(NAMES + at * wide, top + high - 1 - size, Math.max(1, wide), size);
    });
  }
  pen.fillStyle = colour.edge;
  pen.fillRect(0, top + high - 1, canvas.clientWidth, 1);
}

/** @param {CanvasRenderingContext2D} pen @param {any} colour @param {[number, number]} range @param {number} high */
function veil(pen, colour, [from, to], high) {
  const [left, right] = [placeOf(from), placeOf(to)];
  pen.fillStyle = colour.veil;
  pen.fillRect(NAMES, 0, Math.max(0, left - NAMES), high);
  pen.fillRect(right, 0, Math.max(0, canvas.clientWidth - right), high);
  pen.fillStyle = colour.text;
  for (const x of [left, right]) if (x >= NAMES) pen.fillRect(x, 0, 1, high);
}

/** @param {PointerEvent} event */
function begin(event) {
  const start = event.offsetX;
  canvas.setPointerCapture(event.pointerId);
  /** @param {PointerEvent} move */
  const onMove = move => {
    if (Math.abs(move.offsetX - start) > 3) dragged = /** @type {[number, number]} */ ([timeAt(start), timeAt(move.offsetX)].sort((a, b) => a - b));
    draw();
  };
  canvas.addEventListener('pointermove', onMove);
  canvas.addEventListener('pointerup', up => {
    canvas.removeEventListener('pointermove', onMove);
    const range = dragged;
    dragged = null;
    if (range) choose(range);
    else if (start >= NAMES) showStack(up);
    else chooseTrack(up);
  }, { once: true });
}

/** @param {[number, number]} range */
const choose = ([from, to]) => set({ from: String(Math.floor(from)), to: String(Math.ceil(to)) });

/** @param {MouseEvent} event */
const trackAt = event => answer?.tracks[Math.floor((event.offsetY - HIGH) / ROW)];

/** @param {MouseEvent} event */
function chooseTrack(event) {
  const one = trackAt(event);
  if (one && (!isFile || get('tid') || has(get('event'), 't' + one.tid))) set({ tid: get('tid') === String(one.tid) ? '' : String(one.tid) });
}

/** @param {MouseEvent} event */
async function showStack(event) {
  const one = trackAt(event);
  const found = await ask('stack', 'stack', { at: Math.round(timeAt(event.offsetX)), ...(one ? { of: one.tid } : {}) });
  const close = el('button', { type: 'button', 'aria-label': 'Close', onclick: () => { stack.hidden = true; } }, '×');
  stack.replaceChildren(close, el('b', {}, found.thread ? `${found.thread} at ${duration(found.at_ns)}` : 'No sample near.'),
    el('ol', {}, ...found.frames.map((/** @type {any} */ frame) => el('li', {}, el('bdi', {}, frame.name), ' ', el('bdi', { class: 'binary' }, frame.binary)))));
  stack.hidden = false;
}

/** @param {WheelEvent} event */
function zoom(event) {
  if (!answer || event.offsetX < NAMES) return;
  event.preventDefault();
  const at = timeAt(event.offsetX), by = event.deltaY < 0 ? 0.8 : 1.25;
  see(at - (at - seen[0]) * by, at + (seen[1] - at) * by);
}

/** @param {number} from @param {number} to */
function see(from, to) {
  const least = Math.max(0, from), most = Math.min(answer.length_ns, to);
  if (most - least < 1000) return;
  seen = [least, most];
  draw();
  clearTimeout(wanted);
  wanted = window.setTimeout(() => set({ seen: least <= 0 && most >= answer.length_ns ? '' : `${Math.floor(least)}-${Math.ceil(most)}` }, { silently: true }), 120);
}

/** @param {KeyboardEvent} event */
function keys(event) {
  const wide = seen[1] - seen[0], middle = (seen[0] + seen[1]) / 2;
  const range = chosenRange() ?? seen;
  /** @type {Record<string, () => void>} */
  const known = {
    '+': () => see(middle - wide * 0.4, middle + wide * 0.4),
    '-': () => see(middle - wide * 0.625, middle + wide * 0.625),
    0: () => see(0, answer.length_ns),
    ArrowLeft: () => event.shiftKey ? choose([range[0], Math.max(range[0] + wide / 50, range[1] - wide / 50)]) : choose([Math.max(0, range[0] - wide / 50), range[1] - wide / 50]),
    ArrowRight: () => event.shiftKey ? choose([range[0], range[1] + wide / 50]) : choose([range[0] + wide / 50, range[1] + wide / 50]),
    Enter: () => choose([middle - wide / 4, middle + wide / 4]),
  };
  const act = known[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** @param {MouseEvent} event */
function about(event) {
  if (isFile && event.offsetX < NAMES) return 'A click on a name chooses the thread. Ranges of time are chosen in `readperf view`.';
  if (!answer || event.offsetX < NAMES) return 'Drag to choose a range, wheel to zoom, a double click for all of it; a click shows the stack.';
  const one = trackAt(event) ?? answer, place = Math.min(one.all.length - 1, Math.floor((event.offsetX - NAMES) / plotWidth() * one.all.length));
  const count = one.samples?.[place] ?? 0, kernel = one.kernel?.[place] ?? 0, of = one.all[place];
  return `${one.comm ? one.comm + ' ' + one.tid : 'all'} at ${duration(timeAt(event.offsetX))}: ${grouped(count)} samples${count < of ? ` of ${grouped(of)}` : ''}, ${percent(shareOf(kernel, count))} in the kernel`;
}
