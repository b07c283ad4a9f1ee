// The recording: what it says of itself, how many records it has, whether it is sound, and the records.
import { ask } from './data.js';
import { el } from './dom.js';
import * as records from './records.js';
import { get, set } from './state.js';

const PARTS = /** @type {const} */ ([['info', 'Recording'], ['stats', 'Counts'], ['check', 'Check'], ['records', 'Records']]);

/** @param {HTMLElement} into */
export async function show(into) {
  const part = get('part') || 'info', isList = part === 'records';
  const answer = isList ? null : await ask('view', 'recording', { part });
  const tabs = el('div', { class: 'tools' }, ...PARTS.map(([key, label]) => el('button', { type: 'button', 'aria-pressed': String(key === part), onclick: () => set({ part: key }) }, label)));
  if (answer) return into.replaceChildren(tabs, el('div', { class: 'scroll' }, el('pre', { tabindex: '0' }, answer.text)));
  // The list stays where it is while one goes through it.
  const kept = into.querySelector('.records');
  if (!kept) into.replaceChildren(tabs);
  await records.show(into);
}
