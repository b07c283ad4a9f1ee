// The flame graph. Every zoom is drawn at once from what is there, and again when the finer frames have come.
import { ask } from './data.js';
import { el, svg } from './dom.js';
import { flameGraph } from './flame.js';
import { actionBar } from './names.js';
import { get, set } from './state.js';
import { isFile } from './stored.js';
import { grouped, percent } from './text.js';

/** @type {ReturnType<typeof flameGraph> | null} */
let graph = null;
let holder = /** @type {HTMLElement | null} */ (null);

const line = el('div', { class: 'note', role: 'status', id: 'flame-line' });
const bar = el('div', { class: 'tools' });

/** @param {HTMLElement} into */
export async function show(into) {
  const inverted = get('inverted') === '1', order = get('order');
  const data = await ask('view', 'flame', { inverted: get('inverted'), order, zoom: get('zoom'), columns: 2 * into.clientWidth });
  holder = into;
  const picture = svg('svg', { id: 'flamegraph', class: 'in-page', width: '100%' });
  graph?.remove();
  const turn = el('button', { type: 'button', 'aria-pressed': String(inverted), title: 'From the function that was sampled to its callers (i)', onclick: () => set({ inverted: inverted ? '' : '1', zoom: '' }) }, 'From the leaves');
  const heavy = el('button', { type: 'button', 'aria-pressed': String(order !== 'name'), title: 'The widest first', onclick: () => set({ order: order === 'name' ? '' : 'name' }) }, 'Left heavy');
  const whole = el('button', { type: 'button', title: 'Shows everything (Escape)', onclick: () => set({ zoom: '' }) }, 'All');
  bar.replaceChildren(turn, ...(isFile ? [] : [heavy]), whole);
  into.replaceChildren(bar, el('div', { class: 'scroll' }, /** @type {any} */ (picture)), line);
  const note = data.note;
  let restoring = true;
  const made = flameGraph(data, picture, {
    inPage: true, width: () => into.clientWidth, tell: (/** @type {string} */ text) => { line.textContent = text; },
    changed: () => restoring || zoomed(),
  });
  graph = made;
  if (data.differs) bar.append(baseButton(made));
  bar.append(made.legend());
  made.state.side = get('side') === 'base' ? 1 : 0;
  made.zoomTo(made.frameOf(get('zoom').split('.').filter(Boolean).map(Number)));
  search(get('search'));
  restoring = false;
  tell(note);
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
  set({ zoom: graph.pathTo(graph.state.zoom).join('.'), ...(about.isFunction ? { function: about.name, binary: about.binary } : {}) });
}

/** @param {string} note */
function tell(note) {
  if (!graph) return;
  const about = graph.about(graph.state.zoom);
  line.textContent = `${graph.lineAbout(graph.state.zoom)}${note ? ' · ' + note : ''}`;
  bar.querySelector('.actions')?.remove();
  if (about.isFunction) bar.querySelector('.flame-legend')?.before(actionBar({ ...about, kind: 'user' }));
}

/** Marks what matches; gives the share of it. @param {string} text */
export function search(text) {
  if (!graph) return '';
  graph.search(text);
  graph.layout();
  return text ? 'matched ' + percent(graph.matched().share) : '';
}

/** Moves to the next match. @param {boolean} back */
export const nextMatch = back => graph?.nextMatch(back);

/** Whether the picture is what is seen. */
export const isShown = () => Boolean(holder?.querySelector('#flamegraph'));

addEventListener('resize', () => isShown() && graph?.layout());
