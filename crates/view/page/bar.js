// What is chosen: event, weight, threads, and the steps that can be taken back.
import { ask } from './data.js';
import { byId, el } from './dom.js';
import { get, isStep, listed, set, steps, takeBack } from './state.js';
import * as stored from './stored.js';
import { amount, counted, duration, grouped, percent, shareOf, signed } from './text.js';

/** @type {any} */
let summary = null;

/** @param {string} key @param {string} value */
function stepText(key, value) {
  const any = listed(value).join(' or ');
  switch (key) {
    case 'from': return `${duration(Number(value))} to ${get('to') ? duration(Number(get('to'))) : 'the end'}`;
    case 'to': return `the beginning to ${duration(Number(value))}`;
    case 'time': return listed(value).map(timeText).join(' and ');
    case 'focus': return 'focus ' + plain(value);
    case 'ignore': return 'without ' + plain(value);
    case 'hide': return 'merged ' + plain(value);
    case 'show': return 'only functions like ' + plain(value);
    case 'show-from': return 'from ' + plain(value);
    case 'collapse': return 'collapsed ' + any;
    case 'collapse-recursion': return 'recursion collapsed';
    case 'drop-prefix': return 'names without ' + value;
    case 'comm': return 'threads called ' + any;
    case 'tid': return 'thread ' + listed(value).map(signed).join(' or ');
    case 'pid': return 'process ' + listed(value).map(signed).join(' or ');
    case 'subtree': return 'below ' + value.replace(/^\S* ?/, '');
    case 'cpu': return 'CPU ' + any;
    case 'dso': case 'symbol': return 'in ' + any;
    case 'symbol-filter': return 'in functions with ' + any + ' in their name';
    case 'named': return 'in functions with a name';
    default: return `${key} ${value}`;
  }
}

// A range of the recording's clock, as time since the first sample: numbers of the clock may be longer than a number is exact.
/** @param {string} range */
function timeText(range) {
  if (!summary || !/^\d+(-\d+)?$/.test(range)) return range;
  const [from, to] = range.split('-').map(BigInt), since = (/** @type {bigint} */ ns) => duration(Number(ns - BigInt(summary.origin_ns)));
  return `${from ? since(from) : 'the beginning'} to ${(to ?? from) === ENDLESS ? 'the end' : since(to ?? from)}`;
}
const ENDLESS = 2n ** 64n - 1n;

// A pattern that one name matches is shown as that name.
/** @param {string} pattern */
const plain = pattern => pattern.startsWith('^') && pattern.endsWith('$') ? pattern.slice(1, -1).replace(/\\(.)/g, '$1') : `/${pattern}/`;

/** The steps that led here, each to be taken back. @param {...HTMLElement} fixed what cannot be */
const showSteps = (...fixed) => byId('steps').replaceChildren(...fixed, ...steps().map(({ key, value }, nr) =>
  el('li', {}, el('button', { type: 'button', title: 'Take this back', onclick: () => takeBack(nr) }, el('bdi', {}, stepText(key, value)), ' ×'))));

/** Fetches what is chosen and shows it. */
export async function show() {
  // What cannot be answered can be taken back, too.
  showSteps();
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
  thread.replaceChildren(el('option', { value: '' }, 'all threads'), ...several('tid'), ...several('pid'), ...summary.processes.flatMap((/** @type {any} */ process) => [
    can('p' + process.pid) && el('option', { value: 'p' + process.pid, selected: current === 'p' + process.pid }, `${process.comm} ${signed(process.pid)}: ${percent(shareOf(process.weight, summary.recorded))}`),
    ...(process.threads.length > 1 ? process.threads.map((/** @type {any} */ one) =>
      can('t' + one.tid) && el('option', { value: 't' + one.tid, selected: current === 't' + one.tid }, `\u2003${one.comm} ${signed(one.tid)}: ${percent(shareOf(one.weight, summary.recorded))}`)) : [])]).filter(Boolean));
  const cpu = /** @type {HTMLSelectElement} */ (byId('cpu'));
  byId('cpu-label').hidden = stored.isFile || summary.cpus.length < 2;
  cpu.replaceChildren(el('option', { value: '' }, 'all'), ...several('cpu'), ...summary.cpus.map((/** @type {any} */ one) =>
    el('option', { value: one.cpu, selected: get('cpu') === String(one.cpu) }, `${one.cpu}: ${percent(shareOf(one.weight, summary.recorded))}`)));
  // What was chosen when a file was written is all that it has.
  const fixed = (summary.fixed ?? []).filter((/** @type {[string, string]} */ [key]) => isStep(key)).map((/** @type {[string, string]} */ [key, value]) =>
    el('li', { class: 'fixed', title: 'Chosen when this file was written' }, el('bdi', {}, stepText(key, value))));
  const share = percent(shareOf(summary.whole, summary.recorded));
  showSteps(...fixed);
  const measured = (/** @type {number} */ samples, /** @type {number} */ whole) => `${counted(samples, 'sample')}${summary.weight === 'samples' ? '' : ', ' + amount(whole, summary)}`;
  byId('counted').textContent = measured(summary.samples, summary.whole) + (summary.whole < summary.recorded ? ` (${share} of the recording)` : '')
    + (summary.before ? ` · base: ${summary.before.samples ? measured(summary.before.samples, summary.whole_before) : '0 samples, so that everything is new'}${ofBase()}` : '');
  // How far all this is to be trusted: the first, and how many more there are.
  const damage = byId('damage'), all = [...summary.damage.map((/** @type {string} */ one) => `Not all could be read: ${one}`), ...summary.told];
  damage.hidden = !all.length;
  damage.textContent = all.length > 1 ? `${all[0]} · ${all.length - 1} more` : all[0] ?? '';
  damage.title = all.join('\n');
  byId('about-file').textContent = stored.isFile ? `This page is a file. ${stored.told()} To choose ranges of time and functions, and for the map of time, tracks of other events and records, open the recording with readperf view.` : '';
  byId('counted').title = summary.before?.matched ? `Names differ: ${summary.before.matched}.` : '';
}

// More than one is not in the list, but chosen.
/** @param {string} key */
const several = key => get(key).search(/[,-]/) < 0 ? [] : [el('option', { value: get(key), selected: true, disabled: true }, stepText(key, get(key)))];

// A time, a process and a thread mean nothing in another recording.
const ofBase = () => steps().some(({ key }) => ['from', 'time', 'tid', 'pid', 'cpu'].includes(key)) ? ' (times, processes, threads and CPUs are not chosen there)' : '';

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
