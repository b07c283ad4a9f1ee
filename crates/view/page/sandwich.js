// One function: who calls it, and what it calls.
import { ask } from './data.js';
import { el } from './dom.js';
import { actionBar, choose, chosenFunction, nameCell } from './names.js';
import { changeHead, changeOfTotal, row, shareCells, walkable } from './rows.js';
import { amount, percent, points, shareOf } from './text.js';

/** @param {HTMLElement} into */
export async function show(into) {
  const fn = chosenFunction();
  if (!fn) return into.replaceChildren(el('p', { class: 'note' }, 'Choose a function: in the flame graph, the tree or the table of functions.'));
  const answer = await ask('view', 'sandwich', { function: fn.name, binary: fn.binary });
  if (!answer.function) return into.replaceChildren(el('p', { class: 'note' }, el('bdi', {}, answer.why)));
  /** @param {string} title @param {any[]} list @param {string} none */
  const side = (title, list, none) => {
    const body = el('tbody', {}, ...list.map(other => row(other, { onclick: () => choose(other) },
      ...shareCells(other.total, answer, 'total'), changeOfTotal(other, answer), el('td', {}, nameCell(other)))));
    walkable(body);
    const head = el('tr', {}, el('th', { scope: 'col', class: 'number' }, 'Total'), changeHead(answer, 'Change'), el('th', { scope: 'col' }, 'Function'));
    return el('section', {}, el('h2', {}, title), list.length ? el('table', { 'aria-label': title }, el('thead', {}, head), body) : el('p', { class: 'note' }, none));
  };
  const it = answer.function;
  into.replaceChildren(el('div', { class: 'scroll sandwich' },
    side('Called by', answer.callers, 'Nobody: stacks begin with it.'),
    el('section', { class: 'middle' }, el('h2', {}, nameCell(it)),
      el('p', {}, sums(it.total, it.self, answer.whole, answer)),
      it.before !== undefined && el('p', { class: 'base' }, `base: ${sums(it.before, it.self_before, answer.whole_before, answer)} · `
        + `change of the total: ${points(shareOf(it.total, answer.whole) - shareOf(it.before, answer.whole_before))} points`),
      actionBar(it, 'Enter')),
    side('Calls', answer.callees, 'Nothing that was sampled.')));
}

/** @param {number} total @param {number} self @param {number} whole @param {any} measure */
const sums = (total, self, whole, measure) => `total ${percent(shareOf(total, whole))}, ${amount(total, measure)} · self, without what is inlined, ${percent(shareOf(self, whole))}, ${amount(self, measure)}`;
