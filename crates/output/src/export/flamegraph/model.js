// The numbers, and what follows from them. Frames are in preorder: a caller stands before what it calls.
const data = JSON.parse(document.getElementById('flame-data').textContent);
const count = data.depth.length;
const weights = [data.newWeight, data.baseWeight || data.newWeight];
const owns = [data.newOwn, data.baseOwn || data.newOwn];
const others = [data.newOther, data.baseOther || data.newOther];
const ALL = 0, LEFT_OUT = 7;

const parent = new Int32Array(count).fill(-1);
const end = new Int32Array(count).fill(count);
{
  const open = [];
  for (let i = 0; i < count; i++) {
    while (open.length > data.depth[i]) end[open.pop()] = i;
    if (open.length) parent[i] = open[open.length - 1];
    open.push(i);
  }
}

// Where each frame begins, in units of weight: children one after the other, from the left edge of their caller.
const starts = weights.map(weight => {
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
});

const state = {
  side: 0, zoom: 0, focus: 0, inverted: data.inverted, colors: data.colors, pattern: '', hits: null,
};

const share = (i, side) => weights[side][0] > 0 ? weights[side][i] / weights[side][0] : 0;
const change = i => share(i, 0) - share(i, 1);
const isGone = i => data.differs && weights[0][i] === 0 && weights[1][i] > 0;
const nameOf = i => data.names[data.name[i]];
const isHit = i => state.hits !== null && state.hits[data.name[i]] === 1 && data.sort[i] !== ALL && data.sort[i] !== LEFT_OUT;

// The class that colours a frame. Changes are seen against the larger share; half a percent more keeps small frames pale.
function colorOf(i) {
  if (data.sort[i] === LEFT_OUT) return 'k70';
  if (data.differs) {
    const middle = (data.steps - 1) / 2;
    const relative = change(i) / (Math.max(share(i, 0), share(i, 1)) + 0.005);
    return 'd' + Math.max(0, Math.min(data.steps - 1, Math.round(middle + relative * middle)));
  }
  const color = data.nameColor[data.name[i]];
  const byName = state.colors === 'name' && data.sort[i] > 1;
  return byName ? 'n' + color : 'k' + data.sort[i] + color % 4;
}

// Which names match. Without capital letters case does not matter; what is no regular expression is searched for as it is.
function search(text) {
  state.pattern = text;
  if (text === '') {
    state.hits = null;
    return true;
  }
  const flags = /\p{Lu}/u.test(text) ? 'u' : 'iu';
  let pattern, valid = true;
  try {
    pattern = new RegExp(text, flags);
  } catch {
    pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&'), flags);
    valid = false;
  }
  state.hits = Uint8Array.from(data.names, name => pattern.test(name) ? 1 : 0);
  return valid;
}

// The weight of all matching frames; what is called by a match counts once. What is left out elsewhere may match, too.
function matched() {
  let sum = 0, frames = 0, unknown = 0;
  for (let i = 0, covered = 0; i < count; i++) {
    if (data.sort[i] === LEFT_OUT && i >= covered) unknown += weights[state.side][i];
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

const percent = share => (share * 100).toFixed(2) + ' %';
const grouped = number => Number(number).toLocaleString('en-US');

// One line about a frame.
function lineAbout(i) {
  const binary = data.binaries[data.binary[i]];
  return nameOf(i) + (binary ? ' (' + binary + ')' : '') + ': ' + percent(share(i, state.side)) + ', '
    + grouped(weights[state.side][i]) + ' ' + unit(data.weight) + ', ' + grouped(others[state.side][i]) + ' ' + unit(data.other);
}
const unit = name => name === 'period' ? 'of period' : 'samples';
