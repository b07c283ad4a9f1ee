// The numbers, and what follows from them. Frames are in preorder: a caller stands before what it calls.
const ALL = 0, THREAD = 1, LEFT_OUT = 7;

const state = {
  side: 0, zoom: 0, focus: 0, inverted: data.inverted, colors: data.colors, pattern: '', hits: null, matches: [], match: -1,
  fold: false, threads: true,
};

// What is shown: the frames of the file, or what became of them (fold.js).
let count, rowCount, depth, name, binary, sort, inlined, place, weights, owns, others, parent, end, starts, rows;

function take(frames) {
  ({ depth, name, binary, sort, inlined, place, weights, owns, others } = frames);
  count = depth.length;
  parent = new Int32Array(count).fill(-1);
  end = new Int32Array(count).fill(count);
  const open = [];
  for (let i = 0; i < count; i++) {
    while (open.length > depth[i]) end[open.pop()] = i;
    if (open.length) parent[i] = open[open.length - 1];
    open.push(i);
  }
  // In order of time the numbers say where frames begin: there may be gaps between them.
  starts = frames.starts || weights.map(startsOf);
  // The frames of each row from left to right: preorder is that, too.
  rows = [];
  for (let i = 0; i < count; i++) (rows[depth[i]] = rows[depth[i]] || []).push(i);
  rowCount = rows.length;
}

// Where each frame begins, in units of weight: children one after the other, from the left edge of their caller.
function startsOf(weight) {
  const start = new Float64Array(count), next = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const caller = parent[i];
    if (caller >= 0) {
      start[i] = next[caller];
      next[caller] += weight[i];
    }
    next[i] = start[i];
  }
  return start;
}

const pair = (first, second) => [first, second || first];
const whole = {
  depth: data.depth, name: data.name, binary: data.binary, sort: data.sort, inlined: data.inlined, place: data.place,
  weights: pair(data.newWeight, data.baseWeight), owns: pair(data.newOwn, data.baseOwn), others: pair(data.newOther, data.baseOther),
  starts: data.starts && pair(data.starts),
};
take(whole);

const share = (i, side) => weights[side][0] > 0 ? weights[side][i] / weights[side][0] : 0;
const change = i => share(i, 0) - share(i, 1);
const isGone = i => data.differs && weights[0][i] === 0 && weights[1][i] > 0;
const nameOf = i => data.names[name[i]];
const isHit = i => state.hits !== null && state.hits[name[i]] === 1 && sort[i] !== ALL && sort[i] !== LEFT_OUT;

// The class that colours a frame. Changes are seen against the larger share; half a percent more keeps small frames pale.
function colorOf(i) {
  if (sort[i] === LEFT_OUT) return 'k70';
  if (data.differs) {
    const middle = (data.steps - 1) / 2;
    const relative = change(i) / (Math.max(share(i, 0), share(i, 1)) + 0.005);
    return 'd' + Math.max(0, Math.min(data.steps - 1, Math.round(middle + relative * middle)));
  }
  const color = data.nameColor[name[i]];
  const byName = state.colors === 'name' && sort[i] > THREAD;
  return byName ? 'n' + color : 'k' + sort[i] + color % 4;
}

// Which names match. Says whether that was a regular expression.
function search(text) {
  state.pattern = text;
  const { pattern, valid } = wanted(text);
  state.hits = text === '' ? null : Uint8Array.from(data.names, name => pattern.test(name) ? 1 : 0);
  listMatches();
  return valid;
}

// The matching frames, the widest first; of those as wide the outermost.
function listMatches() {
  const weight = weights[state.side];
  state.matches = [];
  state.match = -1;
  if (state.hits === null) return;
  for (let i = 0; i < count; i++) if (isHit(i) && weight[i] > 0) state.matches.push(i);
  state.matches.sort((a, b) => weight[b] - weight[a] || a - b);
}

// The weight of all matching frames; what is called by a match counts once. What is left out elsewhere may match, too.
function matched() {
  let sum = 0, frames = 0, unknown = 0;
  for (let i = 0, covered = 0; i < count; i++) {
    if (sort[i] === LEFT_OUT && i >= covered) unknown += weights[state.side][i];
    if (!isHit(i)) continue;
    frames++;
    if (i >= covered) {
      sum += weights[state.side][i];
      covered = end[i];
    }
  }
  const share = weight => weights[state.side][0] > 0 ? weight / weights[state.side][0] : 0;
  return { frames, share: share(sum), most: share(sum + unknown) };
}

// What only the base has: the topmost frames of it.
function vanished() {
  let sum = 0, frames = 0;
  for (let i = 0; i < count; i++) {
    if (!isGone(i)) continue;
    frames++;
    if (parent[i] < 0 || !isGone(parent[i])) sum += weights[1][i];
  }
  return { frames, share: weights[1][0] > 0 ? sum / weights[1][0] : 0 };
}

// So many samples, or what their periods add up to.
function amount(value, sort) {
  if (sort === 'samples') return samples(value);
  if (data.time) return duration(value);
  return data.counted ? grouped(value) + ' ' + data.counted : 'period ' + grouped(value);
}
const amounts = (i, side) => amount(weights[side][i], data.weight) + ', ' + amount(others[side][i], data.other);

// By how many points a share has changed, with its sign.
const points = by => (by >= 0 ? '+' : '−') + Math.abs(by * 100).toFixed(2) + ' points';

// One line about a frame.
function lineAbout(i) {
  const of = data.binaries[binary[i]], changed = data.differs ? (isGone(i) ? 'vanished, ' : points(change(i)) + ', ') : '';
  return nameOf(i) + (of ? ' (' + of + ')' : '') + ': ' + percent(share(i, state.side)) + ', ' + changed + amounts(i, state.side);
}

