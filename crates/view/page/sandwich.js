// One function: who calls it, and what it calls.
import { ask } from './data.js';
import { el } from './dom.js';
import { actionBar, choose, chosenFunction, nameCell } from './names.js';
import { row, shareCells, walkable } from './rows.js';
import { amount, percent, shareOf } from './text.js';

/** @param {HTMLElement} into */
export async function show(into) {
  const fn = chosenFunction();
  if (!fn) return into.replaceChildren(el('p', { class: 'note' }, 'Choose a function: in the flame graph, the tree or the table of functions.'));
  const answer = await ask('view', 'sandwich', { function: fn.name, binary: fn.binary });
  if (!answer.function) return into.replaceChildren(el('p', { class: 'note' }, el('bdi', {}, answer.why)));
  /** @param {string} title @param {any[]} list @param {string} none */
  const side = (title, list, none) => {
    const body = el('tbody', {}, ...list.map(other => row(other, { onclick: () => choose(other) }, ...shareCells(other.total, answer, 'total'), el('td', {}, nameCell(other)))));
    walkable(body);
    return el('section', {}, el('h2', {}, title), el('table', { 'aria-label': title }, body), !list.length && el('p', { class: 'note' }, none));
  };
  into.replaceChildren(el('div', { class: 'scroll sandwich' },
    side('Called by', answer.callers, 'Nobody: stacks begin with it.'),
    el('section', { class: 'middle' }, el('h2', {}, nameCell(answer.function)),
      el('p', {}, `total ${percent(shareOf(answer.function.total, answer.whole))}, ${amount(answer.function.total, answer)} · self ${percent(shareOf(answer.function.self, answer.whole))}, ${amount(answer.function.self, answer)}`),
      actionBar(answer.function)),
    side('Calls', answer.callees, 'Nothing that was sampled.')));
}
