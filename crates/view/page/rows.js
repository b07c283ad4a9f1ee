// Tables of functions: one row has the focus, keys move it.
import { el, shareBar } from './dom.js';
import { actionOf } from './names.js';
import { amount, percent, points, shareOf } from './text.js';

/** @typedef {import('./names.js').Fn} Fn */
/** @typedef {{weight: string, unit: string, whole: number, whole_before?: number}} Measure */

/** Two cells: share with its bar, and amount. @param {number} value @param {Measure} measure @param {string} [kind] */
export function shareCells(value, measure, kind = '') {
  const share = shareOf(value, measure.whole);
  return [
    el('td', { class: 'number bar ' + kind, title: amount(value, measure) }, shareBar(share), el('span', {}, percent(share))),
  ];
}

/**
 * By how many points a share has changed since the recording that is compared with; `of` says which share.
 * @param {number} before @param {number} now @param {string} of @param {string} [more]
 */
export const changeCell = (before, now, of, more = '') => el('td', { class: 'number change' + (now > before ? ' more' : now < before ? ' less' : ''), title: `${of}: ${percent(before)} → ${percent(now)}${more}` },
  points(now - before));

/** By how much the total of a call has changed, if recordings are compared. @param {{total: number, before?: number}} call @param {Measure} measure */
export const changeOfTotal = (call, measure) => call.before === undefined ? null
  : changeCell(shareOf(call.before, measure.whole_before ?? 0), shareOf(call.total, measure.whole), 'Total', call.total ? '' : ' (vanished)');

/** The head of such a column, if recordings are compared. @param {Measure} measure @param {...(Node | string)} label */
export const changeHead = (measure, ...label) => measure.whole_before === undefined ? null : el('th', { scope: 'col', class: 'number' }, ...label);

/**
 * A row of a table that keys go through.
 * @param {Fn | null} fn @param {Record<string, any>} attributes @param {...(HTMLElement | null)} cells
 */
export function row(fn, attributes, ...cells) {
  const tr = el('tr', { tabindex: -1, ...attributes }, ...cells);
  if (fn) functions.set(tr, fn);
  return tr;
}

/** @type {WeakMap<Element, Fn>} */
const functions = new WeakMap();

/** The function of the row that has the focus. */
export const focusedFunction = () => {
  const tr = document.activeElement?.closest('tr');
  return tr ? functions.get(tr) : undefined;
};

/** @param {Element | null | undefined} tr */
function focusRow(tr) {
  if (!(tr instanceof HTMLElement)) return;
  tr.parentElement?.querySelectorAll('tr[tabindex="0"]').forEach(other => other.setAttribute('tabindex', '-1'));
  tr.setAttribute('tabindex', '0');
  tr.focus();
  tr.scrollIntoView({ block: 'nearest' });
}

/**
 * Makes the rows of a body reachable: one by Tab, the others by arrows.
 * @param {HTMLElement} body @param {(key: string, tr: HTMLElement) => boolean} [more] keys of the table's own
 */
export function walkable(body, more = () => false) {
  body.querySelector('tr')?.setAttribute('tabindex', '0');
  body.addEventListener('focusin', event => {
    const tr = /** @type {Element} */ (event.target).closest('tr');
    if (tr) focusRow(tr);
  });
  body.addEventListener('keydown', event => {
    const tr = /** @type {HTMLElement} */ (event.target).closest('tr');
    if (!tr || event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).tagName === 'BUTTON') return;
    if (act(event.key, tr, more)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

/** @param {string} key @param {HTMLElement} tr @param {(key: string, tr: HTMLElement) => boolean} more */
function act(key, tr, more) {
  const rows = () => Array.from(tr.parentElement?.children ?? []), at = () => rows().indexOf(tr);
  if (more(key, tr)) return true;
  switch (key) {
    case 'ArrowDown': case 'j': focusRow(tr.nextElementSibling); return true;
    case 'ArrowUp': case 'k': focusRow(tr.previousElementSibling); return true;
    case 'PageDown': focusRow(rows()[Math.min(rows().length - 1, at() + 20)]); return true;
    case 'PageUp': focusRow(rows()[Math.max(0, at() - 20)]); return true;
    case 'Home': case 'g': focusRow(rows()[0]); return true;
    case 'End': case 'G': focusRow(rows().at(-1)); return true;
  }
  const fn = functions.get(tr), action = fn && actionOf(fn, key);
  action?.();
  return Boolean(action);
}
