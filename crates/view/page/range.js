// Ranges of time that are chosen, in ns since the first sample.
import { get } from './state.js';

/** The end of the range that was dragged. */
export const endInAddress = () => get('to') ? Number(get('to')) : Infinity;

/**
 * The ranges that are chosen, in order; null if all of the time is. What was dragged is known before the server has answered.
 * @param {{chosen: [number, number][] | null}} answer what the server says of the rest @returns {[number, number][] | null}
 */
export const chosenRanges = answer => get('from') || get('to') ? [[Number(get('from') || 0), endInAddress()]] : answer.chosen;
