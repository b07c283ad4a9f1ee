// A function as a row has it, and what can be done with it.
import { el } from './dom.js';
import { add, asList, get, set } from './state.js';
import { wanted } from './flame.js';
import { isFile } from './stored.js';

/** Without a name it is called by its binary, or its address, which no pattern matches. @typedef {{name: string, binary: string, kind: string, named: boolean, inlined?: boolean}} Fn */

/** The name of a function and its binary, for a cell. @param {Fn} fn */
export function nameCell(fn) {
  const kind = fn.inlined ? 'inlined' : fn.kind;
  return el('span', { class: 'fn', title: fn.binary ? `${fn.name}\n${fn.binary}` : fn.name },
    el('i', { class: 'sort ' + kind, 'aria-hidden': 'true' }), el('bdi', { class: 'name' }, fn.name), el('bdi', { class: 'binary' }, fn.binary),
    kind !== 'user' && el('small', { class: 'mark' }, kind));
}

/** Marks the functions in a part of the page whose names match what is searched for; says how many do. @param {Element} part @param {string} search */
export function markMatches(part, search) {
  const pattern = search ? wanted(search).pattern : null;
  const matches = (/** @type {Element} */ one) => Boolean(pattern?.test(one.querySelector('.name')?.textContent ?? ''));
  return [...part.querySelectorAll('.fn')].filter(one => one.classList.toggle('found', matches(one))).length;
}

/** What says in the address which function is looked at. @param {{name: string, binary: string, named: boolean}} fn */
export const asChosen = fn => ({ function: fn.name, binary: fn.binary, unnamed: fn.named ? '' : '1' });

/** @param {Fn} fn */
export const choose = fn => set(asChosen(fn));

/** @param {string} text */
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The pattern that a name matches, and no other. @param {string} name */
export const exactly = name => '^' + escaped(name) + '$';

/**
 * What can be done with a function: key, label, hint, action.
 * @param {Fn} fn
 * @returns {[string, string, string, () => void][]}
 */
export function actions(fn) {
  const pattern = exactly(fn.name);
  /** @type {[string, string, string, () => void][]} */
  const all = [
    ['Enter', 'Callers and callees', 'Who calls it, and what it calls', () => set({ view: 'sandwich', ...asChosen(fn) })],
    ['a', 'Code', 'Its lines and instructions', () => set({ view: 'code', ...asChosen(fn) })],
  ];
  // A file cannot choose anew.
  if (isFile) return all;
  if (fn.named) {
    all.push(
      ['f', 'Focus', 'Only stacks with this function', () => add('focus', pattern)],
      ['o', 'Begin here', 'Stacks begin at this function', () => add('show-from', pattern, { zoom: '' })],
      ['x', 'Ignore', 'Only stacks without this function', () => add('ignore', pattern, { zoom: '' })],
      ['m', 'Merge into callers', 'What it takes itself is its callers’', () => add('hide', pattern, { zoom: '' })],
    );
  }
  if (fn.binary) all.push(['l', 'Collapse library', `What ${fn.binary} calls in itself is left out`, () => add('collapse', asList(fn.binary))]);
  return all;
}

/**
 * What a key does with a function; nothing if it does not do anything with this one.
 * @param {Fn} fn @param {string} key
 */
export const actionOf = (fn, key) => actions(fn).find(([of]) => of === key)?.[3];

/** Buttons for what can be done with a function. @param {Fn} fn @param {string} [except] the key of what is not offered */
export const actionBar = (fn, except) => el('div', { class: 'actions', role: 'toolbar', 'aria-label': 'What can be done with ' + fn.name },
  ...actions(fn).filter(([key]) => key !== except).map(([key, label, title, act]) => el('button', { type: 'button', title: `${title} (${key})`, onclick: act }, label)));

/** The function that is chosen, if one is. */
export const chosenFunction = () => get('function') && { name: get('function'), binary: get('binary'), kind: 'user', named: !get('unnamed') };
