// Functions: what each takes itself, and with what it calls.
import { ask } from './data.js';
import { el } from './dom.js';
import { choose, nameCell } from './names.js';
import { changeCell, row, shareCells, walkable } from './rows.js';
import { get, set } from './state.js';
import { grouped } from './text.js';

/** @type {[key: string, label: string, title: string][]} */
const COLUMNS = [['total', 'Total', 'With what it calls'], ['self', 'Self', 'The function itself, with what is inlined into it'], ['change', 'Change', 'Points of the function itself since the base'], ['name', 'Function', 'By name']];

/** How much the function itself took before. @param {any} change */
function changed(change) {
  if (!change) return el('td', {});
  const chance = change.p === null ? '' : `\nThat this is chance has a probability of at least ${change.p.toFixed(3)}.`;
  const cell = changeCell(change.before / 100, change.now / 100, 'Self', chance);
  if (change.presence === 'new') cell.append(el('small', { class: 'mark' }, 'new'));
  return cell;
}

/** @param {HTMLElement} into */
export async function show(into) {
  const sort = get('sort') || 'self', answer = await ask('view', 'functions', { sort, search: get('search') });
  const compares = answer.whole_before !== undefined;
  const head = el('tr', {}, ...COLUMNS.filter(([key]) => compares || key !== 'change').map(([key, label, title]) => el('th', {
    scope: 'col', class: key === 'name' ? '' : 'number', 'aria-sort': key === sort ? (key === 'name' ? 'ascending' : 'descending') : null,
  }, el('button', { type: 'button', title: title + ': sort', onclick: () => set({ sort: key }) }, label))));
  const body = /** @type {HTMLTableSectionElement} */ (el('tbody', {}, ...answer.rows.map((/** @type {any} */ fn) => row(fn, { onclick: () => choose(fn), ondblclick: () => set({ view: 'sandwich' }) },
    ...shareCells(fn.total, answer, 'total'), ...shareCells(fn.self, answer), compares ? changed(fn.change) : null, el('td', {}, nameCell(fn))))));
  const left = answer.count - answer.rows.length, at = rowWithFocus(into);
  into.replaceChildren(el('div', { class: 'scroll' }, el('table', { class: 'functions', 'aria-label': 'Functions' }, el('thead', {}, head), body),
    left > 0 && el('p', { class: 'note' }, `${grouped(left)} more functions with less: search to find them.`),
    !answer.count && el('p', { class: 'note' }, get('search') ? 'No function with samples of what is chosen matches the search.' : 'No function has samples of what is chosen.')));
  walkable(body);
  // Who went over the rows by keys goes on where that was.
  if (at >= 0) /** @type {HTMLElement | undefined} */ (body.rows[Math.min(at, body.rows.length - 1)])?.focus();
}

/** The number of the row that has the focus; -1 if none has. @param {HTMLElement} into */
const rowWithFocus = into => [...into.querySelectorAll('tbody tr')].indexOf(/** @type {Element} */ (document.activeElement?.closest('tr')));
