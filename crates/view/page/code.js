// The code of the chosen function: lines of source beside instructions, each with what was sampled there.
import { ask } from './data.js';
import { el, shareBar, svg } from './dom.js';
import { chosenFunction } from './names.js';
import { amount, percent, shareOf } from './text.js';

/** @param {HTMLElement} into */
export async function show(into) {
  const fn = chosenFunction();
  if (!fn) return into.replaceChildren(el('p', { class: 'note' }, 'Choose a function: in the flame graph, the tree or the table of functions.'));
  const answer = await ask('view', 'code', { function: fn.name, binary: fn.binary });
  const listing = answer.annotation?.functions[0];
  if (!listing) return into.replaceChildren(el('p', { class: 'note' }, answer.why));
  const whole = el('p', { class: 'note' }, `100 % is what was sampled in ${fn.name} itself: ${percent(shareOf(answer.self, answer.whole))}, ${amount(answer.self, answer)}`);
  into.replaceChildren(whole, el('div', { class: 'code' }, source(listing, answer), ...listing.parts.map((/** @type {any} */ part) => instructions(part, answer))));
  into.querySelectorAll('.code section').forEach(toHottest);
}

// The beginning of a long function is seldom what takes its time.
/** @param {Element} section */
function toHottest(section) {
  const widthOf = (/** @type {Element} */ tr) => Number(tr.querySelector('.share rect')?.getAttribute('width') ?? 0);
  const [first, ...others] = section.querySelectorAll('tr.hot');
  const hottest = others.reduce((most, tr) => widthOf(tr) > widthOf(most) ? tr : most, first);
  hottest?.scrollIntoView({ block: 'center' });
}

/** @param {any} entry @param {any} answer */
const weightOf = (entry, answer) => entry.events?.[answer.event]?.['self_' + (answer.weight === 'samples' ? 'samples' : 'period')] ?? 0;

/** @param {number} value @param {any} answer */
const share = (value, answer) => {
  const part = shareOf(value, answer.self);
  return el('td', { class: 'number bar' }, value ? shareBar(part) : null, value ? el('span', {}, percent(part)) : null);
};

/** @param {any} listing @param {any} answer */
function source(listing, answer) {
  // Each file in the order of its lines; what has no file comes last.
  const lines = [...listing.lines ?? []], order = new Map(listing.files.map((/** @type {any} */ one, /** @type {number} */ at) => [one.file, at]));
  const place = (/** @type {any} */ line) => order.get(line.file) ?? listing.files.length;
  lines.sort((a, b) => place(a) - place(b) || (a.line ?? 0) - (b.line ?? 0));
  /** @type {string} */
  let file = '';
  const rows = lines.flatMap((/** @type {any} */ line) => {
    const value = weightOf(line, answer), cells = el('tr', { class: value ? 'hot' : '' },
      share(value, answer), el('td', { class: 'number' }, line.line ? String(line.line) : '?'), el('td', {}, el('code', {}, line.text ?? (line.file ? '' : '(line not known)'))),
      el('td', { class: 'binary' }, line.inlined ? el('bdi', {}, 'inlined: ' + line.inlined) : null));
    const about = listing.files[place(line)], why = about?.reason ?? about?.doubt;
    const head = line.file && line.file !== file ? [el('tr', {}, el('th', { colspan: 4, scope: 'rowgroup' }, el('bdi', {}, line.file), why && el('bdi', { class: 'binary' }, why)))] : [];
    file = line.file ?? file;
    return [...head, cells];
  });
  return el('section', { 'aria-label': 'Source' }, el('h2', {}, 'Source'), el('table', { class: 'source' }, el('tbody', {}, ...rows)));
}

/** Most lanes of arrows side by side. */
const LANES = 8;

/**
 * The jumps within a piece of code, each in a lane: short ones next to the code, those that overlap side by side.
 * @param {any[]} list
 */
function jumpsOf(list) {
  const jumps = list.map((one, from) => ({ from, to: one.jumps?.index, lane: 0 })).filter(jump => Number.isInteger(jump.to) && jump.to !== jump.from);
  jumps.sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
  /** @type {[number, number][][]} */
  const taken = [];
  for (const jump of jumps) {
    const first = Math.min(jump.from, jump.to), last = Math.max(jump.from, jump.to);
    const isFree = (/** @type {[number, number][]} */ lane) => lane.every(([a, b]) => last < a || first > b);
    let lane = taken.findIndex(isFree);
    if (lane < 0) lane = taken.push([]) - 1;
    taken[lane].push([first, last]);
    jump.lane = lane;
  }
  return jumps.filter(jump => jump.lane < LANES);
}

/** The part of the arrows that lies in a row. @param {{from: number, to: number, lane: number}[]} jumps @param {number} at */
function arrows(jumps, at) {
  const here = jumps.filter(jump => Math.min(jump.from, jump.to) <= at && at <= Math.max(jump.from, jump.to));
  const wide = LANES * 8 + 10, lines = [];
  for (const jump of here) {
    const x = (LANES - jump.lane) * 8 - 4, first = Math.min(jump.from, jump.to);
    const top = at === first ? 10 : 0, foot = at === Math.max(jump.from, jump.to) ? 10 : 20;
    lines.push(`M${x} ${top}V${foot}`);
    if (at === jump.from) lines.push(`M${x} 10H${wide}`);
    if (at === jump.to) lines.push(`M${x} 10H${wide - 1}m-4 -3l4 3l-4 3`);
  }
  return lines.length ? svg('svg', { class: 'jumps', viewBox: `0 0 ${wide} 20`, width: wide, height: 20, 'aria-hidden': 'true' }, svg('path', { d: lines.join('') })) : null;
}

/** @param {any} part @param {any} answer */
function instructions(part, answer) {
  const list = part.instructions ?? [], jumps = jumpsOf(list);
  const rows = list.map((/** @type {any} */ one, /** @type {number} */ at) => {
    const value = weightOf(one, answer), to = one.jumps ?? one.calls;
    return el('tr', { class: value ? 'hot' : '', id: 'i' + at }, share(value, answer), el('td', { class: 'address' }, one.address),
      el('td', { class: 'arrow' }, arrows(jumps, at)),
      el('td', {}, el('code', {}, one.text), to?.name && !one.text.includes(to.name) ? el('bdi', { class: 'binary' }, ' → ' + to.name) : null));
  });
  const none = part.no_code && el('p', { class: 'note' }, part.no_code);
  return el('section', { 'aria-label': 'Instructions' }, el('h2', {}, el('bdi', {}, part.symbol ?? ''), ' ', el('bdi', { class: 'binary' }, part.dso ?? '')), none || null,
    el('table', { class: 'instructions' }, el('tbody', {}, ...rows)));
}
