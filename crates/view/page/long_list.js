// A list of any length, of which only the rows that are seen are in the document. The owner fetches them.
import { el } from './dom.js';

const ROW = 22;
/** Elements cannot be of any height: beyond this, the bar of a scroller stands for more rows than it has pixels. */
const TALLEST = 4e6;

/**
 * @typedef {object} Owner
 * @property {string} label
 * @property {HTMLElement[]} head cells of the head
 * @property {(first: number, count: number) => void} wanted these rows are to be drawn
 * @property {(place: number) => void} chosen a row was clicked, or keys lead to it
 */

/** @param {Owner} owner */
export function longList(owner) {
  let count = 0, first = 0, current = -1, drawn = 0, carried = 0, ownTop = 0;
  const body = el('tbody', {}), table = el('table', {}, el('thead', {}, el('tr', {}, ...owner.head)), body);
  const spacer = el('div', { class: 'spacer' }, table);
  const scroller = el('div', { class: 'scroll long', tabindex: '0', role: 'grid', 'aria-label': owner.label }, spacer);

  const room = () => Math.max(1, Math.floor((scroller.clientHeight - ROW - 2) / ROW));
  const last = () => Math.max(0, count - room());
  const way = () => Math.max(0, spacer.offsetHeight - scroller.clientHeight);

  /** @param {number} to */
  function moveTo(to) {
    first = Math.max(0, Math.min(last(), Math.round(to)));
    scroller.scrollTop = last() ? first / last() * way() : 0;
    ownTop = scroller.scrollTop;
    owner.wanted(first, room());
  }

  scroller.addEventListener('scroll', () => {
    if (Math.abs(scroller.scrollTop - ownTop) < 1) return;
    ownTop = scroller.scrollTop;
    first = way() ? Math.round(ownTop / way() * last()) : 0;
    owner.wanted(first, room());
  });
  scroller.addEventListener('wheel', event => {
    if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    carried += event.deltaY / (event.deltaMode === 1 ? 1 : ROW);
    const rows = Math.trunc(carried);
    carried -= rows;
    if (rows) moveTo(first + rows);
  }, { passive: false });
  scroller.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, number>} */
    const to = {
      ArrowDown: current + 1, j: current + 1, ArrowUp: current - 1, k: current - 1, PageDown: current + room(), PageUp: current - room(),
      Home: 0, g: 0, End: count - 1, G: count - 1,
    };
    if (!(event.key in to)) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.max(0, Math.min(count - 1, to[event.key])));
  });
  body.addEventListener('click', event => {
    const tr = /** @type {Element} */ (event.target).closest('tr');
    if (tr) choose(drawn + Array.from(body.children).indexOf(tr));
  });
  new ResizeObserver(() => count && scroller.clientHeight && moveTo(first)).observe(scroller);

  /** @param {number} place */
  function choose(place) {
    if (place < 0 || place >= count) return;
    current = place;
    if (place < first) moveTo(place);
    else if (place >= first + room()) moveTo(place - room() + 1);
    mark();
    owner.chosen(place);
  }

  function mark() {
    scroller.removeAttribute('aria-activedescendant');
    Array.from(body.children).forEach((tr, at) => {
      const is = drawn + at === current;
      tr.setAttribute('aria-selected', String(is));
      if (is) scroller.setAttribute('aria-activedescendant', tr.id);
    });
  }

  return {
    element: scroller,
    /** The list has so many rows. @param {number} rows */
    resize(rows) {
      count = rows;
      scroller.setAttribute('aria-rowcount', String(rows));
      spacer.style.height = Math.min(TALLEST, (rows + 1) * ROW + 2) + 'px';
    },
    /** Draws rows, the first of which has this place. @param {number} place @param {HTMLElement[]} rows */
    draw(place, rows) {
      drawn = place;
      rows.forEach((tr, at) => { tr.id = 'row-' + at; tr.setAttribute('aria-rowindex', String(place + at + 1)); });
      body.replaceChildren(...rows);
      mark();
    },
    /** The row that is looked at; it comes into sight. @param {number} place */
    look(place) {
      current = place;
      moveTo(place < first || place >= first + room() ? place - Math.floor(room() / 3) : first);
    },
    moveTo,
    /** @returns {[first: number, count: number]} */
    seen: () => [first, room()],
  };
}
