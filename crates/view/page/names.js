// A function as a row has it, and what can be done with it.
import { el } from './dom.js';
import { add, get, set } from './state.js';
import { isFile } from './stored.js';

/** @typedef {{name: string, binary: string, kind: string, inlined?: boolean}} Fn */

/** The name of a function and its binary, for a cell. @param {Fn} fn */
export function nameCell(fn) {
  const kind = fn.inlined ? 'inlined' : fn.kind;
  return el('span', { class: 'fn', title: fn.binary ? `${fn.name}\n${fn.binary}` : fn.name },
    el('i', { class: 'sort ' + kind, 'aria-hidden': 'true' }), el('bdi', { class: 'name' }, fn.name), el('bdi', { class: 'binary' }, fn.binary),
    kind !== 'user' && el('small', { class: 'mark' }, kind));
}

/** @param {Fn} fn */
export const choose = fn => set({ function: fn.name, binary: fn.binary });

/** @param {string} text */
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The pattern that a name matches, and no other. @param {string} name */
export const exactly = name => '^' + escaped(name) + '$';

/**
 * What can be done with a function: label, hint, action.
 * @param {Fn} fn
 * @returns {[string, string, () => void][]}
 */
export function actions(fn) {
  const pattern = exactly(fn.name);
  /** @type {[string, string, () => void][]} */
  const all = [
    ['Callers and callees', 'Who calls it, and what it calls (Enter)', () => set({ view: 'sandwich', function: fn.name, binary: fn.binary })],
    ['Code', 'Its lines and instructions (a)', () => set({ view: 'code', function: fn.name, binary: fn.binary })],
  ];
  // A file cannot choose anew.
  if (isFile) return all;
  all.push(
    ['Focus', 'Only stacks with this function (f)', () => add('focus', pattern)],
    ['Begin here', 'Stacks begin at this function (o)', () => add('show-from', pattern, { zoom: '' })],
    ['Ignore', 'Only stacks without this function (x)', () => add('ignore', pattern)],
    ['Merge into callers', 'What it takes itself is its callers’ (m)', () => add('hide', pattern)],
  );
  if (fn.binary) all.push(['Collapse library', `What ${fn.binary} calls in itself is left out (l)`, () => add('collapse', fn.binary)]);
  return all;
}

/** The keys of the actions, in their order. */
export const ACTION_KEYS = ['Enter', 'a', 'f', 'o', 'x', 'm', 'l'];

/** Buttons for what can be done with a function. @param {Fn} fn */
export const actionBar = fn => el('div', { class: 'actions', role: 'toolbar', 'aria-label': 'What can be done with ' + fn.name },
  ...actions(fn).map(([label, title, act]) => el('button', { type: 'button', title, onclick: act }, label)));

/** The function that is chosen, if one is. */
export const chosenFunction = () => get('function') && { name: get('function'), binary: get('binary'), kind: 'user' };
