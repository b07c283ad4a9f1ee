// What the server answers, or the file has inside. An answer that nobody waits for any more is given up: the server then does not make it.
import { chosen } from './state.js';
import * as stored from './stored.js';

/** @type {Map<string, AbortController>} */
const asked = new Map();
let waiting = 0;
/** Nobody waits for a hint. */
const QUIET = new Set(['hint']);
/** The last answers by their questions. The recording does not change: who goes back need not ask, nor if nobody answers any more. @type {Map<string, any>} */
const known = new Map();
const KEPT = 12;
/** @type {(busy: boolean) => void} */
let told = () => {};

/** @param {(busy: boolean) => void} listener */
export const listenBusy = listener => { told = listener; };

/** An answer that is no longer wanted. */
export class Stale extends Error {}

/** @param {string} question @param {any} answer */
function keep(question, answer) {
  if (answer.ready !== false) known.set(question, answer);
  const [oldest] = known.keys();
  if (known.size > KEPT) known.delete(oldest);
  return answer;
}

/**
 * Asks for a view of what is chosen. A new question of the same asker takes the place of the one before.
 * @param {string} asker @param {string} view @param {Record<string, string | number>} [more]
 * @returns {Promise<any>}
 */
export async function ask(asker, view, more = {}) {
  asked.get(asker)?.abort();
  const controller = new AbortController();
  asked.set(asker, controller);
  const query = new URLSearchParams(chosen());
  for (const [key, value] of Object.entries(more)) if (value !== '') query.append(key, String(value));
  if (!QUIET.has(asker)) told(++waiting > 0);
  try {
    if (stored.isFile) {
      await stored.unpack();
      if (controller.signal.aborted) throw new Stale();
      return stored.answer(view, new URLSearchParams(chosen()), more);
    }
    const question = `data/${view}?${query}`;
    if (known.has(question)) return known.get(question);
    const answer = await fetch(question, { signal: controller.signal });
    if (!answer.ok) throw new Error(await answer.text());
    return keep(question, await answer.json());
  } catch (error) {
    if (controller.signal.aborted) throw new Stale();
    throw error instanceof TypeError ? new Error('readperf does not answer: it has ended, or cannot be reached.') : error;
  } finally {
    if (!QUIET.has(asker)) told(--waiting > 0);
    if (asked.get(asker) === controller) asked.delete(asker);
  }
}
