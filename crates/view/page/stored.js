// The answers that a file has inside. What was chosen when it was written is all that can be chosen in it, but for the event and some
// processes and threads.
import { wanted } from './flame.js';

const element = document.getElementById('stored');

/** Whether this page is a file, and nobody can be asked. */
export const isFile = element !== null;

/** @typedef {{event: number, told: string, answers: Map<string, any>}} Stored */

/** @type {Stored | null} */
let stored = null;

/** Takes the answers out of the page: they are packed. */
export async function unpack() {
  if (!element || stored) return;
  const bytes = Uint8Array.from(atob(element.textContent ?? ''), letter => letter.charCodeAt(0));
  element.remove();
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  const { event, told, answers } = await text.json();
  stored = { event, told, answers: new Map(answers.map((/** @type {any} */ [key, answer]) => [key.join('\n'), answer])) };
}

/** What the file does not have, in sentences. */
export const told = () => stored?.told ?? '';

/** @param {string} event @param {string} thread @param {string} view @param {string} of */
const found = (event, thread, view, of) => stored?.answers.get([`${event || stored.event}/${thread}`, view, of].join('\n'));

/** Whether an event, or a process (`p7`) or thread (`t7`) of it, is in the file. @param {string} event @param {string} [thread] */
export const has = (event, thread = '') => found(event, thread, 'summary', '') !== undefined;

/**
 * The answer to a question about what is chosen.
 * @param {string} view @param {URLSearchParams} chosen @param {Record<string, string | number>} more
 */
export function answer(view, chosen, more) {
  const event = chosen.get('event') ?? '', thread = chosen.has('tid') ? 't' + chosen.get('tid') : chosen.has('pid') ? 'p' + chosen.get('pid') : '';
  const other = [...chosen.keys()].find(key => !['event', 'tid', 'pid'].includes(key));
  if (view === 'progress') return { ready: true };
  if (view === 'recording') return needed(found('', '', view, String(more.part)), 'this part');
  if (other) throw new Error(`This page is a file: it cannot choose by ${other}. \`readperf view\` can.`);
  const of = view === 'flame' || view === 'tree' ? String(more.inverted ?? '') : more.function === undefined ? '' : `${more.function}\n${more.binary ?? ''}`;
  const get = (/** @type {string} */ name) => needed(found(event, thread, name, of), name === 'code' || name === 'sandwich' ? 'this function' : 'this');
  switch (view) {
    case 'tree': return calls(get('flame'), String(more.way ?? ''), found(event, thread, 'summary', ''));
    case 'functions': return sorted(get('functions'), String(more.sort ?? ''), String(more.search ?? ''));
    default: return get(view);
  }
}

/** @param {any} answer @param {string} what */
function needed(answer, what) {
  if (answer === undefined) throw new Error(`The file does not have ${what}. ${told()} \`readperf view\` has all of the recording.`);
  return answer;
}

const KINDS = ['all', 'thread', 'user', 'inlined', 'kernel', 'jit', 'unknown', 'all'], LEFT_OUT = 7;

/** The calls at the end of a way: the frames of the flame graph, in their order. @param {any} flame @param {string} way @param {any} measure */
function calls(flame, way, measure) {
  const { depth, name, key } = flame;
  /** @param {number} at */
  const childrenOf = at => {
    const list = [];
    for (let k = at + 1; k < depth.length && depth[k] > depth[at]; k++) if (depth[k] === depth[at] + 1) list.push(k);
    return list;
  };
  let at = 0;
  for (const step of way.split('.').filter(Boolean).map(Number)) at = childrenOf(at).find(k => key[name[k]] === step) ?? at;
  let left_out = 0;
  const list = childrenOf(at).flatMap(k => {
    const text = flame.names[name[k]], sort = flame.sort[k];
    if (sort === LEFT_OUT) left_out += Number(text.replace(/\D/g, ''));
    return sort === LEFT_OUT ? [] : [{
      name: text, binary: flame.binaries[flame.binary[k]], kind: flame.inlined[k] ? 'inlined' : KINDS[sort], named: flame.named[k] === 1, self: flame.newOwn[k], total: flame.newWeight[k],
      ...(flame.differs ? { before: flame.baseWeight[k] } : {}), calls: depth[k + 1] > depth[k], key: String(key[name[k]]),
    }];
  });
  return { ...measure, calls: list, left_out };
}

/** Functions in an order, and those that a pattern matches. @param {any} functions @param {string} sort @param {string} search */
function sorted(functions, sort, search) {
  const matching = search ? functions.rows.filter((/** @type {any} */ row) => wanted(search).pattern.test(row.name)) : functions.rows;
  const change = (/** @type {any} */ row) => row.change ? Math.abs(row.change.now - row.change.before) : 0;
  /** @type {Record<string, (a: any, b: any) => number>} */
  const orders = {
    name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0), total: (a, b) => b.total - a.total || b.self - a.self, change: (a, b) => change(b) - change(a),
  };
  const rows = orders[sort] ? [...matching].sort(orders[sort]) : matching;
  const unseen = functions.count - functions.rows.length;
  return { ...functions, count: rows.length + (search ? 0 : unseen), rows: rows.slice(0, 1000) };
}
