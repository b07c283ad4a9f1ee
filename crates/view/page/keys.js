// Keys that hold everywhere. `?` shows this table.
import { byId, el } from './dom.js';
import { actionOf, chosenFunction } from './names.js';
import { focusedFunction } from './rows.js';
import { get, reset, set, takeBackLast } from './state.js';
import { moveThread } from './bar.js';
import { isFile } from './stored.js';
import * as flame from './flame_view.js';
import { closeStack, zoomBy } from './strip.js';

const inTime = () => ['time', 'threads'].includes(get('order'));
const search = () => /** @type {HTMLInputElement} */ (byId('search'));

// What a file cannot do.
const ASKING = ['1', 'r', 's', 'u', 'h'];

/** @type {[keys: string[], what: string, act: () => void][]} */
const ALL_KEYS = [
  [['1'], 'Flame graph in order of time', () => set({ view: '', order: 'time', zoom: '' })],
  [['2'], 'Flame graph, left heavy', () => set({ view: '', order: '', ...(inTime() ? { zoom: '' } : {}) })],
  [['3'], 'Callers and callees', () => set({ view: 'sandwich' })],
  [['4'], 'Tree of calls', () => set({ view: 'tree' })],
  [['5'], 'Functions', () => set({ view: 'functions' })],
  [['6'], 'Code', () => set({ view: 'code' })],
  [['7'], 'Recording', () => set({ view: 'recording' })],
  [['/'], 'Search, by regular expression', () => { search().focus(); search().select(); }],
  [['.', ','], 'Next match, the one before (in the flame graph); Enter, Shift-Enter in the search', () => {}],
  [['+', '='], 'Zoom in: the flame graph, elsewhere time', () => flame.isShown() ? flame.zoomIn() : zoomBy(0.8)],
  [['-'], 'Zoom out', () => flame.isShown() ? flame.zoomOut() : zoomBy(1.25)],
  [['0'], 'All of it', () => flame.isShown() ? set({ zoom: '' }) : zoomBy(Infinity)],
  [['i'], 'From the leaves instead of the roots', () => { if (!inTime()) set({ inverted: get('inverted') ? '' : '1', zoom: '' }); }],
  [['u'], 'Only what is zoomed to (in the flame graph), or the calls of a row (in the tree)', () => flame.onlyThis()],
  [['r'], 'Collapse recursion', () => set({ 'collapse-recursion': get('collapse-recursion') ? '' : '1' })],
  [['n', 'p'], 'Next thread, the one before', () => moveThread(1)],
  [['t'], 'Choose a thread', () => byId('thread').focus()],
  [['h'], 'Time as a heat map, as a strip', () => set({ form: get('form') ? '' : 'heat' })],
  [['s'], 'To the strip of time: + − or w s zoom, a d move what is seen, arrows move the range', () => /** @type {HTMLElement | null} */ (byId('strip').querySelector('canvas'))?.focus()],
  [['b', 'Backspace'], 'Take the last step back', takeBackLast],
  [['Escape'], 'Leave search, zoom, then everything', escape],
  [['?'], 'These keys', () => toggleHelp()],
];
const KEYS = ALL_KEYS.filter(([[key]]) => !isFile || !ASKING.includes(key));

const ROW_KEYS = [
  ['↑ ↓ PgUp PgDn Home End, j k g G', 'Move in tables'], ['→ ← Space', 'Open, close a branch of the tree'], ['*', 'Open the hottest path'],
  ['↑ ↓ ← →, Enter, Backspace', 'Move in the flame graph, zoom, zoom out'],
  isFile ? ['Enter a', 'Of the function of a row: callers and callees, code']
    : ['Enter a f o x m l', 'Of the function of a row: callers and callees, code, focus, begin here, ignore, merge, collapse its library'],
];

function escape() {
  if (!byId('help').hidden) return toggleHelp();
  if (closeStack()) return undefined;
  if (get('search')) return set({ search: '' });
  if (get('zoom')) return set({ zoom: '' });
  reset();
}

/** What had the focus before the keys were shown, and gets it back. @type {Element | null} */
let before = null;

function toggleHelp() {
  const help = byId('help');
  help.hidden = !help.hidden;
  if (!help.hidden) {
    before = document.activeElement;
    help.focus();
  } else if (before instanceof HTMLElement) before.focus();
}

/** Listens to the keys. */
export function start() {
  const rows = [...KEYS.map(([keys, what]) => [keys.join(' '), what]), ...ROW_KEYS];
  byId('help').append(el('button', { type: 'button', 'aria-label': 'Close', onclick: toggleHelp }, '×'), el('h2', {}, 'Keys'), el('table', {}, el('tbody', {}, ...rows.map(([keys, what]) => el('tr', {}, el('th', { scope: 'row' }, el('kbd', {}, keys)), el('td', {}, what))))));
  byId('help-button').addEventListener('click', toggleHelp);
  document.addEventListener('keydown', event => {
    const target = /** @type {HTMLElement} */ (event.target);
    if ((event.ctrlKey || event.metaKey) && event.key === 'f' && target !== search()) {
      event.preventDefault();
      return KEYS.find(([keys]) => keys[0] === '/')?.[2]();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)) return;
    if (act(event.key)) event.preventDefault();
  });
}

/** @param {string} key */
function act(key) {
  // What lies behind the keys waits.
  if (!byId('help').hidden && !['?', 'Escape'].includes(key)) return false;
  if (key === '.' || key === ',') return flame.goToNextMatch(key === ','), true;
  if (key === 'p') return moveThread(-1), true;
  if (key.startsWith('Arrow') && flame.isShown()) return flame.move(key), true;
  const known = KEYS.find(([keys]) => keys.includes(key));
  if (known) return known[2](), true;
  const fn = focusedFunction() ?? (flame.isShown() ? flame.focused() : chosenFunction()), action = fn && key !== 'Enter' && actionOf(fn, key);
  if (action) action();
  return Boolean(action);
}
