// The recording: what it says of itself, how many records it has, and whether it is sound.
import { ask } from './data.js';
import { el } from './dom.js';
import { get, set } from './state.js';

const PARTS = /** @type {const} */ ([['info', 'Recording'], ['stats', 'Records'], ['check', 'Check']]);

/** @param {HTMLElement} into */
export async function show(into) {
  const part = get('part') || 'info', answer = await ask('view', 'recording', { part });
  const tabs = PARTS.map(([key, label]) => el('button', { type: 'button', 'aria-pressed': String(key === part), onclick: () => set({ part: key }) }, label));
  into.replaceChildren(el('div', { class: 'tools' }, ...tabs), el('div', { class: 'scroll' }, el('pre', { tabindex: '0' }, answer.text)));
}
