// The records, as `readperf dump` shows them: a list that is fetched as one scrolls, and one record as fields and bytes.
import { ask, Stale } from './data.js';
import { byId, el } from './dom.js';
import { longList } from './long_list.js';
import { get, set } from './state.js';
import { grouped } from './text.js';

/** @typedef {{index: number, offset: number, type: string, size: number, seconds?: string, event?: string, says: string, stray?: number, error?: string}} Row */

/** Most records that a search keeps. */
const MOST_FOUND = 20000;

const COLUMNS = ['Number', 'Offset', 'Type', 'Time', 'Size', 'Event', 'Fields'];
const list = longList({
  label: 'Records', head: COLUMNS.map(name => el('th', { scope: 'col', role: 'columnheader', class: name.toLowerCase() }, name)), wanted, chosen: choose,
});
const kinds = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'Type of records', onchange: () => set({ kind: kinds.value, record: '' }) }));
const jump = /** @type {HTMLInputElement} */ (el('input', {
  type: 'text', 'aria-label': 'Go to', placeholder: 'Go to: 123, 0x1f00, 12.5, +1.5', spellcheck: 'false', autocomplete: 'off',
  title: 'A number of a record, an offset in the file (0x…), a time in seconds as it is shown, or since the first sample (+…)',
}));
const range = el('button', { type: 'button', title: 'To the first record of the range that is chosen above', onclick: () => go('+' + nanoseconds(get('from'))) }, 'To the range');
const note = el('p', { class: 'note', role: 'status' });
const fields = el('pre', { tabindex: '0', 'aria-label': 'Fields of the record' }), bytes = el('pre', { tabindex: '0', 'aria-label': 'Bytes of the record' });
const root = el('div', { class: 'records' }, el('div', { class: 'tools' }, kinds, jump, range, note), list.element, el('div', { class: 'one' }, fields, bytes));

/** What is in the list: those of a type, or those that a search has found so far. */
let shown = '';
/** @type {Row[]} */
let rows = [];
/** The place of the first of them. */
let drawn = 0;
/** @type {{rows: Row[], next: number | null, busy: boolean} | null} */
let found = null;
let all = 0;
/** What is wrong with the recording. @type {string[]} */
let trouble = [];

/** @param {number} count */
const counted = count => grouped(count) + (count === 1 ? ' record' : ' records');

jump.addEventListener('keydown', event => {
  if (event.key === 'Enter') go(jump.value);
  if (event.key === 'Escape') { jump.blur(); list.element.focus(); }
});

/** @param {string} ns */
const nanoseconds = ns => ns.length > 9 ? ns.slice(0, -9) + '.' + ns.slice(-9) : '0.' + ns.padStart(9, '0');

/** Puts the list into its place. @param {HTMLElement} into */
export async function show(into) {
  if (root.parentElement !== into) into.append(root);
  range.hidden = !get('from');
  const now = get('kind') + '\n' + get('search');
  if (now !== shown) await renew(now);
  else if (get('record') && !rows.some(row => String(row.index) === get('record'))) await go('#' + get('record'));
  await showOne();
}

/** Another list. @param {string} now */
async function renew(now) {
  const is = get('kind'), number = is === 'damaged' ? '' : is, to = get('record') && '#' + get('record');
  const answer = await ask('records', 'records', { kind: number, goto: to, count: list.seen()[1] });
  shown = now;
  note.textContent = answer.why ?? '';
  if (answer.why) return;
  all = answer.all;
  kinds.replaceChildren(el('option', { value: '' }, `all records (${grouped(all)})`),
    ...answer.types.map((/** @type {any} */ type) => el('option', { value: type.number, selected: String(type.number) === is }, `${type.name} (${grouped(type.count)})`)),
    el('option', { value: 'damaged', selected: is === 'damaged' }, 'damaged places'));
  trouble = [...(answer.stray_bytes ? [`${grouped(answer.stray_bytes)} bytes in ${grouped(answer.stray_places)} places are no records`] : []), ...answer.issues];
  found = is === 'damaged' || get('search') ? { rows: [], next: 0, busy: false } : null;
  if (found) {
    list.resize(0);
    list.draw(0, []);
    return search();
  }
  note.textContent = [counted(answer.count), ...trouble].join(' · ');
  list.resize(answer.count);
  if (to) list.look(answer.at);
  else list.moveTo(0);
}

/** The list needs these rows. @param {number} first @param {number} count */
async function wanted(first, count) {
  if (found) {
    draw(first, found.rows.slice(first, first + count));
    if (first + 2 * count > found.rows.length) search();
    return;
  }
  await said(async () => {
    const answer = await ask('records', 'records', { kind: get('kind'), at: first, count });
    draw(first, answer.rows);
  });
}

/** @param {number} first @param {Row[]} those */
function draw(first, those) {
  rows = those;
  drawn = first;
  list.draw(first, those.map(line));
  if (awaited >= first && awaited < first + those.length) choose(awaited);
}

/** @param {Row} row */
function line(row) {
  const damage = row.stray ? `behind ${grouped(row.stray)} bytes that are no record. ` : '', wrong = row.error ? `cannot be decoded: ${row.error}. ` : '';
  /** @param {string} text @param {string} [kind] */
  const cell = (text, kind) => el('td', { class: kind, role: 'gridcell' }, el('bdi', {}, text));
  return el('tr', { role: 'row', class: damage || wrong ? 'damaged' : '' }, cell(grouped(row.index), 'number'), cell('0x' + row.offset.toString(16), 'offset'), cell(row.type, 'type'),
    cell(row.seconds ?? '', 'time'), cell(grouped(row.size), 'size'), cell(row.event ?? '', 'event'),
    el('td', { class: 'fields', role: 'gridcell' }, (damage || wrong) && el('strong', {}, damage + wrong), el('bdi', {}, row.says)));
}

/** Searches on until there is enough to be seen. */
async function search() {
  const mine = found;
  if (!mine || mine.busy) return;
  mine.busy = true;
  await said(async () => {
    while (mine === found && mine.next !== null && mine.rows.length < Math.min(MOST_FOUND, list.seen()[0] + 3 * list.seen()[1])) {
      const answer = await ask('find', 'find', { kind: get('kind'), search: get('search'), after: mine.next, count: 200 });
      if (mine !== found) return;
      mine.rows.push(...answer.rows);
      mine.next = answer.next;
      tellFound(mine);
      list.resize(mine.rows.length);
      const [first, count] = list.seen();
      if (rows.length < count) draw(first, mine.rows.slice(first, first + count));
    }
  });
  mine.busy = false;
}

/** @param {{rows: Row[], next: number | null}} of */
function tellFound({ rows, next }) {
  const said = next === null ? counted(rows.length) + (get('kind') === 'damaged' ? ' damaged' : ' found')
    : `${grouped(rows.length)} found in the first ${grouped(next)} of ${grouped(all)} records${rows.length >= MOST_FOUND ? ': the search ends here' : '; scroll for more'}`;
  note.textContent = [said, ...(get('kind') === 'damaged' ? trouble : [])].join(' · ');
}

/** The row that is chosen as soon as it is there. */
let awaited = -1;

/** @param {number} place */
function choose(place) {
  const row = rows[place - drawn];
  awaited = row ? -1 : place;
  if (row) set({ record: String(row.index) }, { silently: true });
}

/** Goes to a record. In what a search has found it is the next one that there is. @param {string} to */
async function go(to) {
  await said(async () => {
    const answer = await ask('jump', 'records', { kind: found ? '' : get('kind'), goto: to, count: 1 });
    const row = answer.rows[0];
    if (!row) { note.textContent = 'No such record is behind that.'; return; }
    if (found) {
      const place = found.rows.findIndex(other => other.index >= row.index);
      if (place >= 0) list.look(place);
    } else list.look(answer.at);
    set({ record: String(row.index) }, { silently: true });
  });
}

let one = '';
async function showOne() {
  if (one === get('record')) return;
  one = get('record');
  if (!one) { fields.textContent = ''; bytes.textContent = ''; return; }
  const answer = await ask('record', 'record', { number: one });
  fields.textContent = answer.text;
  bytes.textContent = (answer.before ? 'bytes before it that are no record:\n' + answer.before + '\n' : '') + answer.hex
    + (answer.behind ? `\n${grouped(answer.behind)} bytes behind it belong to it` : '');
}

/** What goes wrong is said. @param {() => Promise<void>} part */
async function said(part) {
  try {
    await part();
  } catch (error) {
    if (!(error instanceof Stale)) byId('trouble').textContent = error instanceof Error ? error.message : String(error);
  }
}
