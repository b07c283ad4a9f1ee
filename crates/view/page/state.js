// The state of the page is its address: what is chosen of the recording, in the order it was chosen, and what is looked at. So back,
// forward, reload and a copied link work by themselves. A file has it behind `#`: browsers let files change nothing else.
import { isFile } from './stored.js';

/** @typedef {[key: string, value: string]} Pair */

// What only says what is looked at. All other pairs choose what counts, and go to the server.
const LOOK = new Set(['view', 'function', 'binary', 'unnamed', 'zoom', 'search', 'sort', 'inverted', 'order', 'side', 'seen', 'part', 'record', 'kind', 'tracks', 'of', 'form']);

// What there is once, and so is replaced instead of added.
const ONCE = new Set([...LOOK, 'event', 'weight', 'from', 'to']);

/** @type {Pair[]} */
let pairs = read();
/** @type {((changed: Set<string>) => void)[]} */
const listeners = [];

/** @returns {Pair[]} */
function read() {
  return [...new URLSearchParams(isFile ? location.hash.slice(1) : location.search)];
}

/** @param {Pair[]} list */
const written = list => new URLSearchParams(list).toString();

/** The value of a key that is there once. @param {string} key */
export const get = key => pairs.find(([k]) => k === key)?.[1] ?? '';

/** The values of a list, as an address has them. A comma of their own stands behind a backslash, and so does a backslash. @param {string} value */
export const listed = value => (value.match(/(?:\\.|[^,\\])+/gs) ?? []).map(one => one.replace(/\\(.)/gs, '$1'));

/** A list with one value. @param {string} value */
export const asList = value => value.replace(/[\\,]/g, '\\$&');

/** What is chosen, as a query for the server. */
export const chosen = () => written(pairs.filter(([key]) => !LOOK.has(key)));

/** The steps that can be taken back, in their order: places in the address change when something else is looked at. */
export const steps = () => pairs.filter(isHere).map(([key, value]) => ({ key, value }));

/** Whether a key is that of a step. @param {string} key */
export const isStep = key => !LOOK.has(key) && !['event', 'weight', 'to'].includes(key);

// The end of a time belongs to its beginning, if that is said.
/** @param {Pair} pair */
const isHere = ([key]) => isStep(key) || (key === 'to' && !get('from'));

/** The address of the page with this state. @param {Pair[]} [list] */
export const address = (list = pairs) => isFile ? '#' + written(list) : list.length ? '?' + written(list) : location.pathname;

/** @param {Pair[]} list @param {boolean} [silently] in the place of the present state, not after it */
function go(list, silently) {
  const before = pairs;
  if (written(list) === written(before)) return;
  pairs = list;
  if (silently) history.replaceState(null, '', address(list));
  else history.pushState(null, '', address(list));
  tell(before);
}

/** @param {Pair[]} before */
function tell(before) {
  /** @type {Set<string>} */
  const changed = new Set(), keys = new Set([...before, ...pairs].map(([key]) => key));
  for (const key of keys) {
    /** @param {Pair[]} list */
    const values = list => list.filter(([k]) => k === key).map(([, value]) => value).join('\n');
    if (values(before) !== values(pairs)) changed.add(key);
  }
  if ([...changed].some(key => !LOOK.has(key))) changed.add('chosen');
  listeners.forEach(listener => listener(changed));
}

/**
 * Changes what there is once; an empty value takes it away.
 * @param {Record<string, string>} values @param {{silently?: boolean}} [how]
 */
export function set(values, how = {}) {
  const kept = pairs.filter(([key]) => !(key in values));
  go([...kept, ...Object.entries(values).filter(([, value]) => value !== '')], how.silently);
}

/** Adds a step. @param {string} key @param {string} value @param {Record<string, string>} [also] */
export function add(key, value, also = {}) {
  const kept = pairs.filter(([k]) => !(k in also) && !(ONCE.has(key) && k === key));
  go([...kept, [key, value], ...Object.entries(also).filter(([, v]) => v !== '').map(([k, v]) => /** @type {Pair} */ ([k, v]))]);
}

/** Takes a step back, wherever it is. @param {number} nr its number among the steps */
export function takeBack(nr) {
  const step = pairs.filter(isHere)[nr];
  go(pairs.filter(pair => pair !== step && !(step?.[0] === 'from' && pair[0] === 'to')));
}

/** Takes the last step back. */
export function takeBackLast() {
  takeBack(steps().length - 1);
}

/** Everything as at the beginning. */
export const reset = () => go(pairs.filter(([key]) => key === 'view'));

/** @param {(changed: Set<string>) => void} listener is told which keys have changed; `chosen` if what counts has */
export const listen = listener => { listeners.push(listener); };

addEventListener('popstate', () => {
  const before = pairs;
  pairs = read();
  tell(before);
});
