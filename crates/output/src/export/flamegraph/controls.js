
// The bar above the picture, the pointer, and the keys.
const button = (id, text, hint) => make(XHTML, 'button', { id, type: 'button', title: hint }, text);
const bar = make(XHTML, 'div', { id: 'flame-bar' });
const heading = make(XHTML, 'h1', {}, data.title);
const about = make(XHTML, 'div', { class: 'about', title: data.subtitle }, data.subtitle);
const row = make(XHTML, 'div', { class: 'row', role: 'toolbar', 'aria-label': 'Flame graph' });
const box = make(XHTML, 'input', {
  id: 'flame-search', type: 'search', placeholder: 'Search (regular expression)', 'aria-label': 'Search functions, by regular expression',
  title: '/ or Ctrl-F; Enter goes to the widest match, then to the next one', spellcheck: 'false', autocomplete: 'off',
});
const result = make(XHTML, 'span', { id: 'flame-matched', class: 'matched', role: 'status' });
const reset = button('flame-reset', 'Reset', 'Shows everything, forgets the search (Escape)');
const flip = button('flame-flip', 'Icicle', 'Turns the picture upside down (i)');
const color = button('flame-color', 'By name', 'Colours by name instead of by kind of code (c)');
const base = button('flame-base', '', 'Widths of the base, with what has vanished since (b)');
const fold = button('flame-fold', 'Fold recursion', 'Shows calls that only repeat themselves once (r)');
const threads = button('flame-threads', 'Processes', 'Tells processes apart: a row of their names below all functions (p)');
const where = make(XHTML, 'div', { id: 'flame-where', role: 'status' });
const { colours, kinds } = legend();
const hasThreads = data.sort.includes(THREAD);
row.append(box, result, reset, flip, fold, ...(hasThreads ? [threads] : []), ...(data.differs ? [base] : [color]), colours);
bar.append(heading, about, row, where);

let holder = null;
if (host.inPage) {
  bar.style.cssText = 'position:sticky;top:0;z-index:5';
  document.body.insertBefore(bar, svg);
} else {
  holder = make(SVG, 'foreignObject', { x: 0, y: 0, width: '100%', height: 120 });
  holder.append(bar);
  svg.append(holder);
  svg.append(tipHolder);
  // The bar stays in sight while the picture is scrolled.
  window.addEventListener('scroll', () => holder.setAttribute('y', Math.max(0, -svg.getBoundingClientRect().top)));
}

function layout() {
  if (holder) {
    holder.setAttribute('height', 400);
    holder.setAttribute('height', Math.ceil(bar.getBoundingClientRect().height));
  }
  const top = (holder ? Number(holder.getAttribute('height')) : 0) + 8;
  frames.setAttribute('transform', `translate(${EDGE},${top})`);
  svg.setAttribute('height', top + rowCount * ROW + 12);
  draw();
}

function tell() {
  const found = state.hits === null ? null : matched();
  const open = found !== null && found.most > found.share;
  result.textContent = found === null ? '' : `matched ${open ? '≥ ' : ''}${percent(found.share)}`;
  result.title = found === null ? '' : `${grouped(found.frames)} frames`
    + (open ? `; ${percent(found.most)} if all that is left out matches, too` : '');
  flip.setAttribute('aria-pressed', state.inverted);
  color.setAttribute('aria-pressed', state.colors === 'name');
  fold.setAttribute('aria-pressed', state.fold);
  threads.setAttribute('aria-pressed', state.threads);
  // Colours by name tell no kinds.
  kinds.forEach(kind => kind.hidden = state.colors === 'name');
  base.setAttribute('aria-pressed', state.side === 1);
  const texts = [];
  if (state.zoom > 0) texts.push('Zoomed to ' + lineAbout(state.zoom) + '.');
  if (data.differs && state.side === 1) texts.push('Widths are those of the base; dashed frames have vanished.');
  if (data.note) texts.push(data.note);
  where.textContent = texts.join(' ');
  where.title = where.textContent;
}

function update() {
  tell();
  draw();
}

function find(text) {
  box.classList.toggle('bad', !search(text));
  update();
}

const tellOf = text => { where.textContent = text; };

function resetAll() {
  box.value = '';
  find('');
  zoomTo(0);
}

function toggleBase() {
  state.side = 1 - state.side;
  if (weights[state.side][state.zoom] === 0) state.zoom = 0;
  listMatches();
  update();
}

// The outermost frame lies at the top of icicles and at the foot of flames.
function scrollToRoot() {
  window.scrollTo(0, state.inverted ? 0 : document.documentElement.scrollHeight);
}

function turn() {
  state.inverted = !state.inverted;
  update();
  scrollToRoot();
}

// Folds, unfolds, takes the row of threads away or brings it back: another tree, of another height.
function regrow(option) {
  state[option] = !state[option];
  regroup();
  tell();
  layout();
  scrollToRoot();
}

// The bar covers the top of the window.
function bringIntoSight(i) {
  const shown = drawn.get(i);
  if (!shown) return;
  const { top, bottom } = shown.getBoundingClientRect(), covered = bar.getBoundingClientRect().bottom;
  if (top < covered || bottom > window.innerHeight) window.scrollBy(0, (top + bottom - covered - window.innerHeight) / 2);
}

const KEYS = {
  '/': () => { box.focus(); box.select(); },
  i: () => flip.click(),
  c: () => data.differs || color.click(),
  b: () => data.differs && toggleBase(),
  r: () => fold.click(),
  p: () => hasThreads && threads.click(),
  n: () => nextMatch(false),
  N: () => nextMatch(true),
  Escape: () => state.hits !== null ? (box.value = '', find('')) : zoomTo(0),
};

document.addEventListener('keydown', event => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'f' && event.target !== box) {
    event.preventDefault();
    return KEYS['/']();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) {
    if (event.key === 'Escape') {
      box.value = '';
      find('');
      frames.focus({ preventScroll: true });
    } else if (event.key === 'Enter') {
      findNow();
      nextMatch(event.shiftKey);
    }
    return;
  }
  const action = keyOfFrames(event) || KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

// A search of many frames waits for the next letter, but not when it is asked for.
let waiting = 0;
box.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(findNow, count > 20000 ? 120 : 0);
});
function findNow() {
  clearTimeout(waiting);
  if (box.value !== state.pattern) find(box.value);
}
reset.addEventListener('click', resetAll);
flip.addEventListener('click', turn);
fold.addEventListener('click', () => regrow('fold'));
threads.addEventListener('click', () => regrow('threads'));
color.addEventListener('click', () => { state.colors = state.colors === 'name' ? 'kind' : 'name'; update(); });
base.addEventListener('click', toggleBase);
window.addEventListener('resize', layout);

if (data.differs) {
  const gone = vanished();
  base.textContent = gone.frames ? `Base, ${grouped(gone.frames)} vanished (${percent(gone.share)})` : 'Base';
}
tell();
layout();
scrollToRoot();
