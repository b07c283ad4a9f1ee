// The tree of calls, from the roots or from the leaves. Branches are fetched when they are opened.
import { ask } from './data.js';
import { el } from './dom.js';
import { choose, nameCell } from './names.js';
import { changeHead, changeOfTotal, row, shareCells, walkable } from './rows.js';
import { add, get, set } from './state.js';
import { isFile } from './stored.js';
import { grouped } from './text.js';

/** @typedef {{name: string, binary: string, kind: string, named: boolean, inlined: boolean, self: number, total: number, before?: number, calls: number, key: string}} Call */
/** @typedef {{call: Call, way: string[], open: boolean, tr: HTMLElement}} Branch */

/** @type {WeakMap<Element, Branch>} */
const branches = new WeakMap();
/** The ways that are open, from the roots and from the leaves: who comes back finds them so. @type {[Set<string>, Set<string>]} */
const opened = [new Set(), new Set()];
const isInverted = () => get('inverted') === '1';
const openedHere = () => opened[isInverted() ? 1 : 0];

/** @param {HTMLElement} into */
export async function show(into) {
  const inverted = isInverted(), answer = await calls([]);
  const body = el('tbody', {});
  body.append(...level(answer, []));
  await openOnly(body.querySelector('tr'));
  await openAgain(body);
  const turn = el('button', { type: 'button', 'aria-pressed': String(inverted), onclick: () => set({ inverted: inverted ? '' : '1' }) }, 'From the leaves');
  const hottest = el('button', { type: 'button', title: 'Opens the calls that take most (*)', onclick: () => openHottest(body.querySelector('tr:focus') ?? body.querySelector('tr[tabindex="0"]') ?? body.querySelector('tr')) }, 'Hottest path');
  const head = el('tr', {}, el('th', { scope: 'col', class: 'number' }, 'Total'), inverted ? null : el('th', { scope: 'col', class: 'number' }, 'Self'), changeHead(answer, 'Change'), el('th', { scope: 'col' }, inverted ? 'Function, called by' : 'Function, calls'));
  into.replaceChildren(el('div', { class: 'tools' }, turn, hottest), el('div', { class: 'scroll' },
    el('table', { role: 'treegrid', class: 'tree', 'aria-label': 'Tree of calls' }, el('thead', {}, head), body),
    !answer.calls.length && el('p', { class: 'note' }, 'No sample of this event is in what is chosen.')));
  walkable(body, keys);
}

/** @param {string[]} way */
const calls = way => ask('tree ' + way.join('.'), 'tree', { inverted: get('inverted'), way: way.join('.') });

/** The rows of a level. @param {any} answer @param {string[]} before */
function level(answer, before) {
  const rows = answer.calls.map((/** @type {Call} */ call) => branch(call, before, answer));
  if (!answer.left_out) return rows;
  const note = el('tr', { 'aria-level': before.length + 1, tabindex: -1 }, el('td', { colspan: 4, class: 'depth binary' }, `${grouped(answer.left_out)} more calls are too small to be shown.`));
  branches.set(note, { call: /** @type {any} */ ({ calls: 0 }), way: [...before, ''], open: false, tr: note });
  return [...rows, note];
}

/** @param {Call} call @param {string[]} before @param {any} measure */
function branch(call, before, measure) {
  const way = [...before, call.key], depth = before.length;
  const mark = el('span', { class: 'twist', 'aria-hidden': 'true' }, call.calls ? '▸' : ' ');
  const tr = row(call, {
    'aria-level': depth + 1, 'aria-expanded': call.calls ? 'false' : null, onclick: () => { choose(call); }, ondblclick: () => toggle(tr),
    // From the leaves nothing is a frame's own: what it takes itself is the total of a root.
  }, ...shareCells(call.total, measure, 'total'), ...(isInverted() ? [] : shareCells(call.self, measure)), changeOfTotal(call, measure), el('td', { class: 'depth' }, indent(depth), mark, nameCell(call)));
  mark.addEventListener('click', event => { event.stopPropagation(); toggle(tr); });
  branches.set(tr, { call, way, open: false, tr });
  return tr;
}

// Depth is drawn by elements, since the page may have no style in attributes.
/** @param {number} depth */
function indent(depth) {
  const all = document.createDocumentFragment();
  for (let i = 0; i < Math.min(depth, 60); i++) all.append(el('i', { class: 'indent' }));
  if (depth > 60) all.append(el('small', {}, `+${grouped(depth - 60)} `));
  return all;
}

/** @param {HTMLElement} tr */
async function open(tr) {
  const it = branches.get(tr);
  if (!it || it.open || !it.call.calls) return;
  it.open = true;
  openedHere().add(it.way.join('.'));
  tr.setAttribute('aria-expanded', 'true');
  setMark(tr, '▾');
  let answer;
  try {
    answer = await calls(it.way);
  } catch (error) {
    close(tr);
    throw error;
  }
  if (!it.open) return;
  tr.after(...level(answer, it.way));
}

/** @param {HTMLElement} tr */
function close(tr) {
  const it = branches.get(tr);
  if (!it?.open) return;
  it.open = false;
  openedHere().delete(it.way.join('.'));
  tr.setAttribute('aria-expanded', 'false');
  setMark(tr, '▸');
  const depth = it.way.length;
  for (let next = tr.nextElementSibling; next && (branches.get(next)?.way.length ?? 0) > depth; next = tr.nextElementSibling) next.remove();
}

/** @param {HTMLElement} tr @param {string} mark */
const setMark = (tr, mark) => { const twist = tr.querySelector('.twist'); if (twist) twist.textContent = mark; };

/** @param {HTMLElement} tr */
const toggle = tr => branches.get(tr)?.open ? close(tr) : open(tr);

// What is the only call there is hides nothing: it is opened.
/** @param {HTMLElement | null} tr */
async function openOnly(tr) {
  while (tr && !tr.nextElementSibling && branches.get(tr)?.call.calls) {
    await open(tr);
    tr = /** @type {HTMLElement | null} */ (tr.nextElementSibling);
  }
}

// What was open when the tree was seen last, as far as it is still there.
/** @param {HTMLElement} body */
async function openAgain(body) {
  const ways = openedHere();
  // Rows that come are behind those that they belong to.
  for (let tr = body.firstElementChild; tr; tr = tr.nextElementSibling) {
    const it = branches.get(tr);
    if (it && !it.open && ways.has(it.way.join('.'))) await open(it.tr);
  }
}

// As long as one call has most of what its caller has.
/** @param {HTMLElement | null} tr */
async function openHottest(tr) {
  while (tr) {
    tr.focus();
    const it = branches.get(tr);
    await open(tr);
    const next = tr.nextElementSibling, below = next && branches.get(next);
    if (!it || !below || below.way.length <= it.way.length || below.call.total * 2 < it.call.total) return;
    tr = /** @type {HTMLElement} */ (next);
  }
}

/** @param {string} key @param {HTMLElement} tr */
function keys(key, tr) {
  const it = branches.get(tr);
  if (!it) return false;
  switch (key) {
    case 'ArrowRight': it.open ? /** @type {HTMLElement | null} */ (tr.nextElementSibling)?.focus() : open(tr); return true;
    case 'ArrowLeft': it.open ? close(tr) : caller(tr)?.focus(); return true;
    case ' ': toggle(tr); return true;
    case '*': openHottest(tr); return true;
    case 'u': onlyThis(it); return true;
  }
  return false;
}

// What a call has below it becomes all there is.
/** @param {Branch} it */
function onlyThis({ call, way }) {
  if (isFile || isInverted() || call.before !== undefined || !call.key) return;
  add('subtree', `${way.join('.')} ${call.name}`, { zoom: '' });
}

/** @param {HTMLElement} tr @returns {HTMLElement | null} */
function caller(tr) {
  const depth = branches.get(tr)?.way.length ?? 0;
  let above = tr.previousElementSibling;
  while (above && (branches.get(above)?.way.length ?? 0) >= depth) above = above.previousElementSibling;
  return /** @type {HTMLElement | null} */ (above);
}
