// What is chosen: event, weight, threads, and the steps that can be taken back.
import { ask } from './data.js';
import { byId, el } from './dom.js';
import { get, set, steps, takeBack } from './state.js';
import * as stored from './stored.js';
import { amount, duration, grouped, percent, shareOf } from './text.js';

/** @type {any} */
let summary = null;

/** @param {string} key @param {string} value */
function stepText(key, value) {
  switch (key) {
    case 'from': return `${duration(Number(value))} to ${get('to') ? duration(Number(get('to'))) : 'the end'}`;
    case 'focus': return 'focus ' + plain(value);
    case 'ignore': return 'without ' + plain(value);
    case 'hide': return 'merged ' + plain(value);
    case 'show-from': return 'from ' + plain(value);
    case 'collapse': return 'collapsed ' + value;
    case 'collapse-recursion': return 'recursion collapsed';
    case 'tid': return 'thread ' + value;
    case 'pid': return 'process ' + value;
    case 'subtree': return 'below ' + value.replace(/^\S* ?/, '');
    case 'cpu': return 'CPU ' + value;
    default: return `${key} ${value}`;
  }
}

// A pattern that one name matches is shown as that name.
/** @param {string} pattern */
const plain = pattern => pattern.startsWith('^') && pattern.endsWith('$') ? pattern.slice(1, -1).replace(/\\(.)/g, '$1') : `/${pattern}/`;

/** Fetches what is chosen and shows it. */
export async function show() {
  summary = await ask('bar', 'summary');
  byId('title').textContent = summary.title;
  document.title = `${summary.title} – readperf`;
  const event = /** @type {HTMLSelectElement} */ (byId('event')), weight = /** @type {HTMLSelectElement} */ (byId('weight')), thread = /** @type {HTMLSelectElement} */ (byId('thread'));
  event.replaceChildren(...summary.events.map((/** @type {any} */ one, /** @type {number} */ at) =>
    el('option', { value: at, selected: at === summary.event, disabled: stored.isFile && !stored.has(String(at)) }, `${one.name} (${grouped(one.samples)})`)));
  weight.value = summary.weight;
  // In a file only what it has inside can be chosen.
  const can = (/** @type {string} */ one) => !stored.isFile || stored.has(String(summary.event), one);
  weight.disabled = stored.isFile;
  const current = get('tid') ? 't' + get('tid') : get('pid') ? 'p' + get('pid') : '';
  thread.replaceChildren(el('option', { value: '' }, 'all threads'), ...summary.processes.flatMap((/** @type {any} */ process) => [
    can('p' + process.pid) && el('option', { value: 'p' + process.pid, selected: current === 'p' + process.pid }, `${process.comm} ${process.pid}: ${percent(shareOf(process.weight, summary.recorded))}`),
    ...(process.threads.length > 1 ? process.threads.map((/** @type {any} */ one) =>
      can('t' + one.tid) && el('option', { value: 't' + one.tid, selected: current === 't' + one.tid }, `\u2003${one.comm} ${one.tid}: ${percent(shareOf(one.weight, summary.recorded))}`)) : [])]).filter(Boolean));
  const cpu = /** @type {HTMLSelectElement} */ (byId('cpu'));
  byId('cpu-label').hidden = stored.isFile || summary.cpus.length < 2;
  cpu.replaceChildren(el('option', { value: '' }, 'all'), ...summary.cpus.map((/** @type {any} */ one) =>
    el('option', { value: one.cpu, selected: get('cpu') === String(one.cpu) }, `${one.cpu}: ${percent(shareOf(one.weight, summary.recorded))}`)));
  const crumbs = steps().map(({ key, value }, nr) => el('li', {}, el('button', { type: 'button', title: 'Take this back', onclick: () => takeBack(nr) }, el('bdi', {}, stepText(key, value)), ' ×')));
  const share = percent(shareOf(summary.whole, summary.recorded));
  byId('steps').replaceChildren(...crumbs);
  const measured = (/** @type {number} */ samples, /** @type {number} */ whole) => `${grouped(samples)} samples${summary.weight === 'samples' ? '' : ', ' + amount(whole, summary)}`;
  byId('counted').textContent = measured(summary.samples, summary.whole) + (summary.whole < summary.recorded ? ` (${share} of the recording)` : '')
    + (summary.before ? ` · base: ${summary.before.samples ? measured(summary.before.samples, summary.whole_before) : '0 samples, so that everything is new'}${ofBase()}` : '');
  const damage = byId('damage');
  damage.hidden = !summary.damage;
  damage.textContent = summary.damage ? `Not all could be read: ${summary.damage}` : '';
  byId('about-file').textContent = stored.isFile ? `This page is a file. ${stored.told()} To choose ranges of time and functions, and for the map of time, tracks of other events and records, open the recording with readperf view.` : '';
  byId('counted').title = summary.before?.matched ? `Names differ: ${summary.before.matched}.` : '';
}

// A time, a process and a thread mean nothing in another recording.
const ofBase = () => steps().some(({ key }) => ['from', 'tid', 'pid', 'cpu'].includes(key)) ? ' (times, processes, threads and CPUs are not chosen there)' : '';

/** Listens to the choices. */
export function start() {
  byId('damage').addEventListener('click', () => set({ view: 'recording', part: 'check' }));
  byId('event').addEventListener('change', event => set({ event: /** @type {HTMLSelectElement} */ (event.target).value, zoom: '' }));
  byId('weight').addEventListener('change', event => {
    const value = /** @type {HTMLSelectElement} */ (event.target).value;
    set({ weight: value === 'samples' ? value : '' });
  });
  byId('cpu').addEventListener('change', event => set({ cpu: /** @type {HTMLSelectElement} */ (event.target).value }));
  byId('thread').addEventListener('change', event => {
    const value = /** @type {HTMLSelectElement} */ (event.target).value;
    set({ tid: value.startsWith('t') ? value.slice(1) : '', pid: value.startsWith('p') ? value.slice(1) : '' });
  });
}

/** The threads, in the order of the list. */
export const moveThread = (/** @type {number} */ by) => {
  const thread = /** @type {HTMLSelectElement} */ (byId('thread')), next = thread.selectedIndex + by;
  if (next < 0 || next >= thread.options.length) return;
  thread.selectedIndex = next;
  thread.dispatchEvent(new Event('change'));
};
