// Puts the parts together: what has changed in the state says what is fetched again.
import { ask, listenBusy, Stale } from './data.js';
import { byId, el } from './dom.js';
import * as bar from './bar.js';
import * as code from './code.js';
import { wanted } from './flame.js';
import * as flame from './flame_view.js';
import * as functions from './functions.js';
import * as keys from './keys.js';
import * as recording from './recording.js';
import * as sandwich from './sandwich.js';
import * as strip from './strip.js';
import * as tree from './tree.js';
import { markMatches } from './names.js';
import { add, address, chosen, get, listen, reset, set } from './state.js';
import { isFile } from './stored.js';
import { grouped } from './text.js';

/** The views: name in the address, title, how it is shown, and what of the address it depends on besides what is chosen. */
/** @type {[name: string, title: string, show: (into: HTMLElement) => Promise<void>, needs: string[]][]} */
const VIEWS = [
  ['flame', 'Flame graph', flame.show, ['inverted', 'order', 'zoom', 'side']],
  ['tree', 'Call tree', tree.show, ['inverted']],
  ['functions', 'Functions', functions.show, ['sort', 'search']],
  ['sandwich', 'Callers and callees', sandwich.show, ['function', 'binary']],
  ['code', 'Code', code.show, ['function', 'binary']],
  ['recording', 'Recording', recording.show, ['part', 'kind', 'search', 'record']],
];

const current = () => VIEWS.find(([name]) => name === get('view')) ?? VIEWS[0];
const main = byId('view');
const search = /** @type {HTMLInputElement} */ (byId('search'));

/** Says what went wrong, with a way out if it may be what is chosen. @param {unknown} error */
function tell(error) {
  if (error instanceof Stale) return;
  byId('trouble').replaceChildren(error instanceof Error ? error.message : String(error), ' ',
    ...(chosen() ? [el('button', { type: 'button', onclick: reset }, 'Show all of the recording')] : []));
}

/** Shows what a part makes; what goes wrong is said in its place. @param {() => Promise<void>} part */
const attempt = part => part().catch(tell);

// What goes wrong behind a click or a key is said there, too.
addEventListener('unhandledrejection', event => {
  event.preventDefault();
  tell(event.reason);
});

function showView() {
  const [name, , show] = current();
  for (const tab of byId('tabs').children) {
    const is = tab.id === 'tab-' + name;
    tab.setAttribute('aria-selected', String(is));
    tab.setAttribute('tabindex', is ? '0' : '-1');
  }
  main.setAttribute('aria-labelledby', 'tab-' + name);
  main.className = name;
  // The functions that the document has as text are for who does not wait.
  return attempt(() => show(main)).then(() => document.body.classList.add('shown'));
}

// Tables that show everything mark what is searched for. Rows of the tree come when they are opened.
const marks = () => ['tree', 'sandwich'].includes(get('view'));
new MutationObserver(() => { if (marks() && get('search')) showSearch(); }).observe(main, { childList: true, subtree: true });

async function showSearch() {
  const text = get('search'), told = byId('matched');
  byId('no-pattern').hidden = !text || wanted(text).valid;
  if (search.value !== text) search.value = text;
  byId('of-search').hidden = isFile || !text || get('view') === 'recording';
  if (!flame.isShown() || !text) {
    const found = marks() ? markMatches(main, text) : 0;
    told.textContent = text && marks() ? `${grouped(found)} of the rows match` : '';
    if (flame.isShown()) flame.search('');
    return;
  }
  flame.search(text);
  told.textContent = flame.matchedHere();
  // If nobody answers, what is drawn is all that is known.
  const matched = await flame.matched(text).catch(tell);
  if (matched && text === get('search') && flame.isShown()) told.textContent = matched;
}

/** Where a view was left, by its address: how far it was scrolled, and at which row. @type {Map<string, {top: number, row: number}>} */
const places = new Map();
let here = address();
const part = () => main.querySelector('.scroll'), rows = () => [...main.querySelectorAll('tbody tr')];

function leave() {
  places.set(here, { top: part()?.scrollTop ?? 0, row: rows().findIndex(row => row.getAttribute('tabindex') === '0') });
  here = address();
}

// Who comes back goes on there.
function comeBack() {
  const place = places.get(here), scrolled = part();
  if (!place || !scrolled) return;
  if (document.activeElement === document.body) /** @type {HTMLElement | undefined} */ (rows()[place.row])?.focus({ preventScroll: true });
  scrolled.scrollTop = place.top;
}

listen(changed => {
  const [, , , needs] = current(), all = changed.has('chosen');
  leave();
  byId('trouble').textContent = '';
  if (all) {
    strip.closeStack();
    attempt(bar.show);
  }
  if (all || ['seen', 'tracks', 'of', 'form'].some(key => changed.has(key))) attempt(strip.show);
  if (all || changed.has('view') || needs.some(key => changed.has(key))) showView().then(comeBack).then(showSearch);
  else if (changed.has('search')) showSearch();
});

listenBusy(busy => document.body.classList.toggle('busy', busy));
byId('tabs').append(...VIEWS.map(([name, title]) => el('button', {
  type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'view', onclick: () => set({ view: name === 'flame' ? '' : name }),
}, title)));
byId('tabs').addEventListener('keydown', event => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const at = VIEWS.indexOf(current()), next = VIEWS[(at + by + VIEWS.length) % VIEWS.length];
  set({ view: next[0] === 'flame' ? '' : next[0] });
  byId('tab-' + next[0]).focus();
});
let typing = 0;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = window.setTimeout(() => set({ search: search.value }, { silently: true }), 150);
});
search.addEventListener('keydown', event => {
  if (event.key === 'Escape') search.blur();
  if (event.key !== 'Enter') return;
  set({ search: search.value }, { silently: true });
  flame.nextMatch(event.shiftKey);
});

// What is searched for becomes what is chosen, in the way in which it is searched for.
for (const how of ['focus', 'ignore']) {
  byId('search-' + how).addEventListener('click', () => {
    const { source, ignoreCase } = wanted(search.value).pattern;
    add(how, (ignoreCase ? '(?i)' : '') + source, { search: '', zoom: '' });
  });
}

// Until the recording is read there is nothing to show but how far it is.
async function opened() {
  const progress = byId('progress');
  for (;;) {
    const told = await ask('progress', 'progress');
    if (told.ready) break;
    progress.hidden = false;
    progress.textContent = told.text;
    await new Promise(resolve => { setTimeout(resolve, 200); });
  }
  progress.hidden = true;
}

strip.start();
bar.start();
keys.start();
await attempt(async () => {
  // A browser has few requests open at a time. Of a page that waits for the recording it is the picture alone, so that other tabs have
  // theirs, and all can ask how far it is.
  const view = showView().then(showSearch), ready = opened();
  await Promise.race([view, ready]);
  await Promise.all([view, ready, attempt(bar.show), attempt(strip.show)]);
});
