// Elements. Text only ever becomes text: names in a recording may be anything.

/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes] `on…` is a listener, `class` and others are attributes; null and false are left out
 * @param {...(Node | string | null | undefined | false)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** @template {HTMLElement} T @param {string} id @returns {T} */
export const byId = id => {
  const element = document.getElementById(id);
  if (!element) throw new Error('no element ' + id);
  return /** @type {T} */ (element);
};

const SVG = 'http://www.w3.org/2000/svg';

/** @param {string} tag @param {Record<string, string | number>} [attributes] @param {...(Node | string)} children @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return /** @type {SVGElement} */ (element);
}

/**
 * A bar as wide as a share of its cell. It is drawn, as the page may have no style in attributes.
 * @param {number} share
 */
export const shareBar = share => svg('svg', { class: 'share', viewBox: '0 0 100 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
  svg('rect', { width: Math.max(0, Math.min(100, share * 100)), height: 1 }));
