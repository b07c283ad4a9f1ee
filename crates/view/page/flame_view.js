// The flame graph. Every zoom is drawn at once from what is there, and again when the finer frames have come.
import { ask } from './data.js';
import { el, svg } from './dom.js';
import { flameGraph } from './flame.js';
import { actionBar, asChosen } from './names.js';
import { add, get, set } from './state.js';
import { isFile } from './stored.js';
import { duration, grouped, percent, shareOf } from './text.js';

/** @type {[value: string, text: string][]} */
const ORDERS = [['', 'Left heavy'], ['name', 'By name'], ['time', 'In order of time'], ['threads', 'In order of time, by thread']];
/** In order of time: of each frame where it begins, its times in ns, and its thread. @type {[number, number, number, number | null][] | null} */
let spans = null;

/** @type {ReturnType<typeof flameGraph> | null} */
let graph = null;
let holder = /** @type {HTMLElement | null} */ (null);

const line = el('div', { class: 'note', role: 'status', id: 'flame-line' });
const bar = el('div', { class: 'tools' });

/** @param {HTMLElement} into */
export async function show(into) {
  const inverted = get('inverted') === '1', order = get('order');
  const inTime = order === 'time' || order === 'threads', columns = 2 * into.clientWidth;
  const answer = await ask('view', inTime ? 'flame-time' : 'flame', { inverted: inTime ? '' : get('inverted'), order, zoom: get('zoom'), columns });
  spans = inTime ? answer.spans : null;
  const data = inTime ? { ...answer.picture, starts: spans?.map(span => span[0]) } : answer;
  holder = into;
  const picture = svg('svg', { id: 'flamegraph', class: 'in-page', width: '100%' });
  const hadFocus = document.activeElement?.id === 'flame-frames';
  graph?.remove();
  const turn = el('button', { type: 'button', 'aria-pressed': String(inverted), title: 'From the function that was sampled to its callers (i)', onclick: () => set({ inverted: inverted ? '' : '1', zoom: '' }) }, 'From the leaves');
  turn.toggleAttribute('disabled', inTime);
  const heavy = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'Order of frames', title: 'In order of time, equal frames of one sample after the other are one', onchange: () => set({ order: heavy.value, zoom: '' }) },
    ...ORDERS.map(([value, text]) => el('option', { value, selected: value === order }, text))));
  const whole = el('button', { type: 'button', title: 'Shows everything (Escape)', onclick: () => set({ zoom: '' }) }, 'All');
  bar.replaceChildren(turn, ...(isFile ? [] : [heavy]), whole);
  into.replaceChildren(bar, el('div', { class: 'scroll' }, /** @type {any} */ (picture)), line);
  const note = data.note;
  let restoring = true;
  const made = flameGraph(data, picture, {
    inPage: true, width: () => into.clientWidth, tell: (/** @type {string} */ text) => { line.textContent = text + (graph && spans ? when(graph.state.focus) : ''); },
    changed: () => restoring || zoomed(),
  });
  graph = made;
  picture.addEventListener('pointerover', event => hintLine(/** @type {any} */ (event.target).frame));
  picture.addEventListener('pointerleave', () => hintLine(undefined));
  picture.addEventListener('keydown', () => hintLine(made.state.focus));
  if (data.differs) bar.append(baseButton(made));
  bar.append(made.legend());
  made.state.side = get('side') === 'base' ? 1 : 0;
  if (!inTime) made.zoomTo(made.frameOf(get('zoom').split('.').filter(Boolean).map(Number)));
  search(get('search'));
  restoring = false;
  if (hadFocus) made.focusFrames();
  const isEmpty = made.weightsOf(0).every(weight => !weight);
  tell([isEmpty ? 'No sample of this event is in what is chosen.' : '', note].filter(Boolean).join(' · '));
}

/** Widths of the recording that is compared with, with what has vanished since. @param {ReturnType<typeof flameGraph>} made */
function baseButton(made) {
  const is = get('side') === 'base', gone = made.vanished();
  const act = () => set({ side: is ? '' : 'base', ...(made.weightsOf(made.state.zoom)[is ? 0 : 1] ? {} : { zoom: '' }) });
  return el('button', { type: 'button', id: 'flame-base', 'aria-pressed': String(is), title: 'Widths of the base; frames that have vanished since are dashed', onclick: act },
    gone.frames && !get('zoom') ? `Base, ${grouped(gone.frames)} vanished (${percent(gone.share)})` : 'Base');
}

function zoomed() {
  if (!graph) return;
  const about = graph.about(graph.state.zoom);
  set({ zoom: spans ? part(graph.state.zoom) : graph.pathTo(graph.state.zoom).join('.'), ...(about.isFunction ? asChosen(about) : {}) });
}

/** The time of a frame, and its thread where each stands on its own: what a zoom is in order of time. @param {number} frame */
function part(frame) {
  const span = spans?.[frame];
  if (!span) return '';
  const [, from, to, tid] = span;
  if (frame === 0) return get('zoom');
  return `${from}-${to}${get('order') === 'threads' && tid !== null ? '@' + tid : ''}`;
}

/** When a frame was. @param {number} frame */
const when = frame => spans?.[frame] ? ` · ${duration(spans[frame][1])} to ${duration(spans[frame][2])}` : '';

/** @param {string} note */
function tell(note) {
  if (!graph) return;
  const about = graph.about(graph.state.zoom);
  line.textContent = `${graph.lineAbout(graph.state.zoom)}${when(graph.state.zoom)}${note ? ' · ' + note : ''}`;
  bar.querySelector('.actions')?.remove();
  const actions = about.isFunction ? actionBar({ ...about, kind: 'user' }) : null;
  if (actions && canBeAlone()) actions.append(el('button', { type: 'button', title: 'Only what is called along this way (u)', onclick: onlyThis }, 'Only this'));
  if (actions) bar.querySelector('.flame-legend')?.before(actions);
}

// A way is one from the roots, of one recording.
const canBeAlone = () => Boolean(graph && graph.state.zoom && !isFile && !spans && get('inverted') !== '1' && !bar.querySelector('#flame-base'));

/** What is zoomed to becomes all there is. */
export function onlyThis() {
  if (!graph || !isShown() || !canBeAlone()) return;
  add('subtree', `${get('zoom')} ${graph.about(graph.state.zoom).name}`, { zoom: '' });
}

let asking = 0;

/** Soon adds to the hint of a frame the line on which its function takes most itself. @param {number | undefined} frame */
function hintLine(frame) {
  clearTimeout(asking);
  if (frame === undefined || !graph) return;
  const about = graph.about(frame);
  if (!about.isFunction) return;
  asking = window.setTimeout(async () => {
    const found = await ask('hint', 'line', { function: about.name, binary: about.binary }).catch(() => null);
    if (!found?.place) return;
    const said = `most of its own on ${found.place} (${percent(found.self / found.of)})`;
    const tip = document.getElementById('flame-tip');
    if (tip && tip.style.display !== 'none' && tip.firstChild?.textContent === about.name) tip.append(el('div', { class: 'line' }, said));
    if (line.textContent?.startsWith(about.name + ':')) line.textContent += ' · ' + said;
  }, 200);
}

/** Marks what matches. @param {string} text */
export function search(text) {
  graph?.search(text);
  graph?.layout();
}

/** The share of the stacks that match in what is drawn, which may not be all there is. */
export function matchedHere() {
  const { share, most } = graph?.matched() ?? { share: 0, most: 1 };
  return `matched ${most > share || get('zoom') ? '≥ ' : ''}${percent(share)}`;
}

/** The share of all stacks that match. @param {string} text */
export async function matched(text) {
  if (isFile) return matchedHere();
  const found = await ask('search', 'matched', { search: text }), ofBase = get('side') === 'base';
  return 'matched ' + percent(ofBase ? shareOf(found.matched_before, found.whole_before) : shareOf(found.matched, found.whole));
}

/** Moves to the next match. @param {boolean} back */
export const nextMatch = back => graph?.nextMatch(back);

/** The same, and keys go on from there. @param {boolean} back */
export function goToNextMatch(back) {
  graph?.focusFrames();
  nextMatch(back);
}

/** The function of the frame that keys have led to, or else of the one that is zoomed to. @returns {import('./names.js').Fn | null} */
export function focused() {
  for (const frame of graph ? [graph.state.focus, graph.state.zoom] : []) {
    const about = frame > 0 ? graph?.about(frame) : undefined;
    if (about?.isFunction) return { ...about, kind: 'user' };
  }
  return null;
}

/** Moves from frame to frame. @param {string} key */
export function move(key) {
  graph?.focusFrames();
  graph?.act(key);
}

/** Zooms to the frame that keys have led to, or else to the widest that the present one calls. */
export function zoomIn() {
  if (!graph) return;
  if (graph.state.focus === graph.state.zoom) graph.act('outward');
  graph.act('Enter');
}

/** Zooms to the caller. */
export const zoomOut = () => spans ? set({ zoom: '' }) : graph?.act('Backspace');

/** Whether the picture is what is seen. */
export const isShown = () => holder?.className === 'flame' && Boolean(holder.querySelector('#flamegraph'));

addEventListener('resize', () => isShown() && graph?.layout());
