// Time: how many samples there were, of everything and of the busiest threads, when these had a CPU, and what other events counted. A range
// that is dragged is what counts from then on.
import { ask } from './data.js';
import { byId, el } from './dom.js';
import * as heat from './heat.js';
import { chosenRanges, endInAddress } from './range.js';
import { get, set } from './state.js';
import { has, isFile } from './stored.js';
import { counted, duration, grouped, percent, shareOf, signed } from './text.js';

const HIGH = 34, ROW = 20, NAMES = 190;
/** Height of what shows when a thread had a CPU, below its samples. */
const BAND = 6;
/** Threads that have tracks where nobody says. */
const BUSIEST = 8;
/** Other events that are shown where nobody says. */
const EVENTS = 4;

/** @type {any} */
let answer = null;
/** What is seen of the time, in ns since the first sample. @type {[number, number]} */
let seen = [0, 1];
/** The range that is being dragged. @type {[number, number] | null} */
let dragged = null;
let wanted = 0;

const canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img' }));
const tracks = el('div', { class: 'tracks' }, canvas);
const line = el('div', { class: 'note', role: 'status' });
const form = el('button', { type: 'button', title: 'Samples as a map: a column is a stretch of time, a row an offset in it (h)', onclick: () => set({ form: get('form') ? '' : 'heat' }) }, 'Heat map');
const of = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'Tracks of', title: 'What has tracks of its own', onchange: () => set({ of: of.value }) }));
const others = el('button', { type: 'button', title: 'Tracks of the other events: some, all, none', onclick: moreEvents });
const stack = el('div', { class: 'stack', hidden: true });

/** Puts the strip into the page. */
export function start() {
  // Of these a file has what was shown when it was written.
  form.hidden = isFile;
  byId('strip').append(tracks, el('div', { class: 'strip-bar' }, form, of, others, line), stack);
  heat.start(text => { line.textContent = text; });
  canvas.addEventListener('pointermove', event => { line.textContent = about(event); });
  if (isFile) {
    canvas.addEventListener('click', event => { if (event.offsetX < NAMES) chooseTrack(event); });
  } else {
    canvas.addEventListener('pointerdown', begin);
    canvas.addEventListener('wheel', zoom, { passive: false });
    canvas.addEventListener('dblclick', () => {
      closeStack();
      set({ from: '', to: '', seen: '' });
    });
    canvas.addEventListener('keydown', keys);
  }
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

/** Fetches what is seen and draws it. */
export async function show() {
  const isMap = get('form') === 'heat' && !isFile;
  form.setAttribute('aria-pressed', String(isMap));
  const [there, gone] = isMap ? [heat.element, tracks] : [tracks, heat.element];
  if (gone.isConnected) gone.replaceWith(there);
  if (isMap) {
    others.hidden = of.hidden = true;
    return heat.show(plotWidth(), NAMES);
  }
  const [from, to] = get('seen').split('-').map(Number), isFolded = get('of') === 'none', events = isFolded ? 0 : { '': EVENTS, all: 50 }[get('tracks')] ?? 0;
  const got = await ask('strip', 'time', { events, of: get('of'), buckets: Math.max(50, Math.floor(plotWidth() / 2)), seen: get('seen') });
  // What a single thread did is what all did.
  const known = got.tracks.filter((/** @type {any} */ one) => one.running);
  answer = { ...got, tracks: !isFolded && (got.tracks.length > 1 || known.length) ? got.tracks : [] };
  offer(got);
  row = known.length ? ROW + BAND : ROW;
  const all = got.events.length + got.events_left_out;
  others.hidden = !all || isFile || isFolded;
  others.textContent = got.events_left_out ? `Other events: ${got.events.length} of ${all}` : `Other events: ${all}`;
  line.textContent = got.running_note ?? '';
  seen = get('seen') && to > from ? [from, to] : [0, Math.max(1, answer.length_ns)];
  draw();
}

// The busiest threads have tracks, or processes, or more threads.
/** @param {any} got */
function offer(got) {
  of.hidden = isFile || got.threads < 2;
  /** @type {[value: string, text: string, all: number][]} */
  const kinds = [['', 'Busiest threads', Math.min(BUSIEST, got.threads)], ['processes', 'Processes', got.processes], ['threads', 'Threads', got.threads], ['none', 'No tracks', 0]];
  of.replaceChildren(...kinds.map(([value, text, all]) => el('option', { value, selected: value === get('of') },
    value === 'none' ? text : `${text}: ${value === get('of') && got.tracks.length < all ? `${grouped(got.tracks.length)} of ` : ''}${grouped(all)}`)));
}

const plotWidth = () => Math.max(100, byId('strip').clientWidth - NAMES);
/** Height of the track of a thread. */
let row = ROW;
/** Where the tracks of other events begin. */
const eventsTop = () => HIGH + answer.tracks.length * row;

// Some, all, none; where there are not more than some, all or none.
function moreEvents() {
  if (answer.events[0]?.samples_seen === null) return;
  const isLong = answer.events_left_out > 0 || answer.events.length > EVENTS;
  set({ tracks: get('tracks') === 'none' ? '' : get('tracks') === '' && isLong ? 'all' : 'none' });
}
/** @param {number} x */
const timeAt = x => seen[0] + Math.max(0, Math.min(1, (x - NAMES) / plotWidth())) * (seen[1] - seen[0]);
/** @param {number} ns */
const placeOf = ns => NAMES + (ns - seen[0]) / (seen[1] - seen[0]) * plotWidth();

/** The colours of the page. */
function colours() {
  const style = getComputedStyle(canvas);
  /** @param {string} name */
  const of = name => style.getPropertyValue('--' + name).trim();
  return { user: of('user'), kernel: of('kernel'), text: of('text'), faint: of('faint'), edge: of('edge'), veil: of('veil'), pale: of('pale'), other: of('jit'), running: of('running') };
}

/** Draws everything. */
export function draw() {
  if (!answer) return;
  const high = eventsTop() + answer.events.length * ROW, scale = devicePixelRatio || 1, wide = canvas.clientWidth;
  canvas.width = wide * scale;
  canvas.height = high * scale;
  canvas.style.height = high + 'px';
  canvas.setAttribute('aria-label', `Samples over ${duration(seen[1] - seen[0])}; ${answer.tracks.length} ${answer.tracks[0]?.pid === undefined ? 'threads' : 'processes'}, ${answer.events.length} other events`);
  const pen = canvas.getContext('2d'), colour = colours();
  if (!pen) return;
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  track(pen, colour, 'all', answer, 0, HIGH);
  answer.tracks.forEach((/** @type {any} */ one, /** @type {number} */ at) => {
    track(pen, colour, nameOf(one), one, HIGH + at * row, one.running ? ROW : row);
    if (one.running) band(pen, colour, one, HIGH + at * row + ROW);
  });
  answer.events.forEach((/** @type {any} */ one, /** @type {number} */ at) => track(pen, colour, one.name, one, eventsTop() + at * ROW, ROW));
  const ranges = dragged ? [dragged] : chosenRanges(answer);
  if (ranges) veil(pen, colour, ranges, high);
}

/** @param {any} one */
const nameOf = one => one.pid === undefined ? `${one.comm} ${signed(one.tid)}` : `${one.comm} ${signed(one.pid)} (process)`;

/** The range that can be moved: that of both ends in the address. @returns {[number, number] | null} */
const chosenRange = () => get('from') || get('to') ? [Number(get('from') || 0), Math.min(answer.length_ns, endInAddress())] : null;

/** @param {CanvasRenderingContext2D} pen @param {any} colour @param {string} name @param {any} one @param {number} top @param {number} high */
function track(pen, colour, name, one, top, high) {
  pen.fillStyle = colour.text;
  pen.fillText(name, 6, top + high / 2, NAMES - 12);
  const most = one.all.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 1), wide = plotWidth() / one.all.length;
  // What is not chosen is pale; of what is, the kernel stands at the foot.
  for (const [list, fill] of [[one.all, one.name === undefined ? colour.pale : colour.other], [one.samples, colour.user], [one.kernel, colour.kernel]]) {
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

// When a thread had a CPU: the higher, the more of the time; paler where it had none although it wanted one.
/** @param {CanvasRenderingContext2D} pen @param {any} colour @param {any} one @param {number} top */
function band(pen, colour, one, top) {
  const wide = plotWidth() / one.running.length;
  one.running.forEach((/** @type {number} */ share, /** @type {number} */ at) => {
    const ran = share / 1000 * (BAND - 1), wanted = one.preempted[at] / 1000 * (BAND - 1);
    pen.fillStyle = colour.pale;
    if (wanted) pen.fillRect(NAMES + at * wide, top + BAND - 1 - ran - wanted, Math.max(1, wide), wanted);
    pen.fillStyle = colour.running;
    if (ran) pen.fillRect(NAMES + at * wide, top + BAND - 1 - Math.max(1, ran), Math.max(1, wide), Math.max(1, ran));
  });
  pen.fillStyle = colour.edge;
  pen.fillRect(0, top + BAND - 1, canvas.clientWidth, 1);
}

// What is in none of the ranges, which are in order.
/** @param {CanvasRenderingContext2D} pen @param {any} colour @param {[number, number][]} ranges @param {number} high */
function veil(pen, colour, ranges, high) {
  const inside = (/** @type {number} */ ns) => Math.max(NAMES, Math.min(canvas.clientWidth, placeOf(ns)));
  let left = NAMES;
  for (const [from, to] of [...ranges, [Infinity, Infinity]]) {
    pen.fillStyle = colour.veil;
    pen.fillRect(left, 0, Math.max(0, inside(from) - left), high);
    left = inside(to);
  }
  pen.fillStyle = colour.text;
  for (const x of ranges.flat().map(placeOf)) if (x >= NAMES && x < canvas.clientWidth) pen.fillRect(x, 0, 1, high);
}

/** @param {PointerEvent} event */
function begin(event) {
  const start = event.offsetX;
  canvas.setPointerCapture(event.pointerId);
  /** @param {PointerEvent} move */
  const onMove = move => {
    if (start >= NAMES && Math.abs(move.offsetX - start) > 3) dragged = /** @type {[number, number]} */ ([timeAt(start), timeAt(move.offsetX)].sort((a, b) => a - b));
    draw();
  };
  canvas.addEventListener('pointermove', onMove);
  canvas.addEventListener('pointerup', up => {
    canvas.removeEventListener('pointermove', onMove);
    const range = dragged;
    dragged = null;
    if (range) choose(range);
    else if (start < NAMES) chooseTrack(up);
    // Of other events it is known how many there were.
    else if (!eventAt(up)) showStack(up);
  }, { once: true });
}

/** @param {[number, number]} range @param {boolean} [silently] */
const choose = ([from, to], silently) => set({ from: String(Math.floor(from)), to: String(Math.ceil(to)) }, { silently });

/** Moves both ends of the range, as far as there is time; each step takes the place of the one before. @param {number} by */
function moveRange(by) {
  const chosen = chosenRange(), [from, to] = chosen ?? seen;
  const step = Math.max(-from, Math.min(answer.length_ns - to, Math.round(by)));
  if (step) choose([from + step, to + step], chosen !== null);
}

/** The same with its end alone. @param {number} by */
function moveEnd(by) {
  const chosen = chosenRange(), [from, to] = chosen ?? seen;
  const end = Math.max(from + 1000, Math.min(answer.length_ns, to + by));
  if (end !== to) choose([from, end], chosen !== null);
}

/** @param {MouseEvent} event */
const trackAt = event => answer?.tracks[Math.floor((event.offsetY - HIGH) / row)];

/** @param {MouseEvent} event */
const eventAt = event => answer?.events[Math.floor((event.offsetY - eventsTop()) / ROW)];

/** @param {MouseEvent} event */
function chooseTrack(event) {
  const one = trackAt(event), other = eventAt(event);
  if (other) set({ event: String(other.event), zoom: '' });
  if (one?.pid !== undefined) return set({ pid: get('pid') === String(one.pid) ? '' : String(one.pid), tid: '' });
  if (one && (!isFile || get('tid') || has(get('event'), 't' + one.tid))) set({ tid: get('tid') === String(one.tid) ? '' : String(one.tid), pid: '' });
}

/** A sample is near a click that is not farther away than so much. */
const NEAR = 8;
/** How often stacks were shown or closed. */
let shown = 0;

/** @param {MouseEvent} event */
async function showStack(event) {
  const one = trackAt(event), within = Math.ceil(NEAR * (seen[1] - seen[0]) / plotWidth()), clicked = ++shown;
  const found = await ask('stack', 'stack', { at: Math.round(timeAt(event.offsetX)), within, ...(one?.pid !== undefined ? { process: one.pid } : one ? { thread: one.tid } : {}) });
  // Meanwhile it may have been closed.
  if (clicked !== shown) return;
  const close = el('button', { type: 'button', 'aria-label': 'Close', onclick: closeStack }, '×');
  stack.replaceChildren(close, el('b', {}, found.thread ? `${found.thread} at ${duration(found.at_ns)}` : 'No chosen sample near.'),
    el('ol', {}, ...found.frames.map((/** @type {any} */ frame) => el('li', {}, el('bdi', {}, frame.name), ' ', el('bdi', { class: 'binary' }, frame.binary)))));
  stack.hidden = false;
}

/** Closes the stack of a sample; says whether there was one. */
export function closeStack() {
  const was = !stack.hidden;
  shown++;
  stack.hidden = true;
  return was;
}

/** Zooms into the middle of what is seen of the time (less than 1), out of it, or shows all of it. @param {number} by */
export function zoomBy(by) {
  if (!answer || get('form') === 'heat') return;
  const middle = (seen[0] + seen[1]) / 2, half = (seen[1] - seen[0]) / 2 * by;
  see(middle - half, middle + half);
}

/** Moves what is seen by a part of it, as far as there is time. @param {number} by */
function moveBy(by) {
  const step = Math.max(-seen[0], Math.min(answer.length_ns - seen[1], by * (seen[1] - seen[0])));
  see(seen[0] + step, seen[1] + step);
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
  /** @type {Record<string, () => void>} */
  const known = {
    '+': () => zoomBy(0.8),
    '-': () => zoomBy(1.25),
    0: () => zoomBy(Infinity),
    w: () => zoomBy(0.8),
    s: () => zoomBy(1.25),
    a: () => moveBy(-0.2),
    d: () => moveBy(0.2),
    ArrowLeft: () => (event.shiftKey ? moveEnd : moveRange)(-wide / 50),
    ArrowRight: () => (event.shiftKey ? moveEnd : moveRange)(wide / 50),
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
  const other = eventAt(event);
  if (other) {
    const place = placeAt(event, other.all);
    return `${other.name} at ${duration(timeAt(event.offsetX))}: ${grouped(other.all[place])} counted`
      + (other.samples_seen === null ? `, ${grouped(other.period_seen)} in what is seen` : `; ${counted(other.samples_seen, 'sample')} in what is seen. A click on its name shows it.`);
  }
  const one = trackAt(event) ?? answer, place = placeAt(event, one.all);
  const count = one.samples?.[place] ?? 0, kernel = one.kernel?.[place] ?? 0, of = one.all[place];
  return `${one.comm === undefined ? 'all' : nameOf(one)} at ${duration(timeAt(event.offsetX))}: ${count < of ? `${grouped(count)} of ${counted(of, 'sample')}` : counted(count, 'sample')}, ${percent(shareOf(kernel, count))} in the kernel${onCpu(one, place)}`;
}

/** @param {MouseEvent} event @param {number[]} list */
const placeAt = (event, list) => Math.min(list.length - 1, Math.floor((event.offsetX - NAMES) / plotWidth() * list.length));

/** @param {any} one @param {number} place */
const onCpu = (one, place) => one.running ? `; on a CPU ${percent(one.running[place] / 1000)}, waiting for one ${percent(one.preempted[place] / 1000)} of the time` : '';
