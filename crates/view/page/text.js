// Numbers as people read them.

const digits = new Intl.NumberFormat('en-US');

/** @param {number} number */
export const grouped = number => digits.format(number);

/** So many of something. @param {number} count @param {string} what */
export const counted = (count, what) => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;

/** A number of a process or thread, which the kernel's own have below zero. @param {number | string} id */
export const signed = id => String(Number(id) | 0);

/** @param {number} ns */
export function duration(ns) {
  for (const [unit, name] of /** @type {[number, string][]} */ ([[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']])) {
    if (Math.abs(ns) >= unit) return (ns / unit).toFixed(3) + ' ' + name;
  }
  return ns + ' ns';
}

/** @param {number} share */
export const percent = share => (share * 100).toFixed(2) + ' %';

/** By how many points a share has changed, with its sign. @param {number} by */
export const points = by => (by >= 0 ? '+' : '−') + Math.abs(by * 100).toFixed(2);

/** @param {number} part @param {number} whole */
export const shareOf = (part, whole) => whole > 0 ? part / whole : 0;

/**
 * What samples add up to. @param {number} value @param {{weight: string, unit: string}} of
 */
export function amount(value, of) {
  if (of.weight === 'samples') return counted(value, 'sample');
  return of.unit === 'ns' ? duration(value) : grouped(value) + (of.unit ? ' ' + of.unit : '');
}
