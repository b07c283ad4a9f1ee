'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  document.querySelector('.bar').hidden = false;
  const toggle = (id) => {
    const button = byId(id);
    const on = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', on);
    document.body.classList.toggle('no-' + id, !on);
  };
  let last = null;
  const next = (step) => {
    // Rows that are hidden take no place.
    const rows = [...document.querySelectorAll('section > table tr.hot')].filter((row) => row.offsetParent);
    if (!rows.length) return;
    const at = rows.indexOf(last);
    last?.classList.remove('now');
    last = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : (at + step + rows.length) % rows.length];
    last.classList.add('now');
    last.scrollIntoView({ block: 'center' });
  };
  byId('source').onclick = () => toggle('source');
  byId('code').onclick = () => toggle('code');
  byId('hot').onclick = () => next(1);
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = { s: () => toggle('source'), a: () => toggle('code'), n: () => next(1), N: () => next(-1) }[event.key];
    if (act) { act(); event.preventDefault(); }
  });
})();
