// Functions: what each takes itself, and with what it calls.
import { ask } from './data.js';
import { el } from './dom.js';
import { choose, nameCell } from './names.js';
import { row, shareCells, walkable } from './rows.js';
import { get, set } from './state.js';
import { grouped } from './text.js';

const COLUMNS = /** @type {const} */ ([['total', 'Total', 'With what it calls'], ['self', 'Self', 'The function itself'], ['name', 'Function', 'By name']]);

/** @param {HTMLElement} into */
export async function show(into) {
  const sort = get('sort') || 'self', answer = await ask('view', 'functions', { sort, search: get('search') });
  const head = el('tr', {}, ...COLUMNS.map(([key, label, title]) => el('th', {
    scope: 'col', class: key === 'name' ? '' : 'number', 'aria-sort': key === sort ? (key === 'name' ? 'ascending' : 'descending') : null,
  }, el('button', { type: 'button', title: title + ': sort', onclick: () => set({ sort: key }) }, label))));
  const body = el('tbody', {}, ...answer.rows.map((/** @type {any} */ fn) => row(fn, { onclick: () => choose(fn), ondblclick: () => set({ view: 'sandwich' }) },
    ...shareCells(fn.total, answer, 'total'), ...shareCells(fn.self, answer), el('td', {}, nameCell(fn)))));
  const left = answer.count - answer.rows.length;
  into.replaceChildren(el('div', { class: 'scroll' }, el('table', { class: 'functions', 'aria-label': 'Functions' }, el('thead', {}, head), body),
    left > 0 && el('p', { class: 'note' }, `${grouped(left)} more functions with less: search to find them.`),
    !answer.count && el('p', { class: 'note' }, 'No function has samples of what is chosen.')));
  walkable(body);
}
