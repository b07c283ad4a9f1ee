// Recursion folded, and the row of threads left out: the frames of the file, put together anew.

// A function that calls itself, or functions that call one another in turn, over and over: so many at most in one turn.
const LONGEST_TURN = 8;

// The node to which a call leads: an outer one if it only repeats what has just been, else none.
function repeats(nodes, caller, called) {
  for (let turn = 1, from = caller; turn <= LONGEST_TURN && from > 0; turn++, from = nodes[from].parent) {
    // `from` is where the turn before this one ended.
    if (nodes[from].name !== called || nodes[from].isThread) continue;
    let late = caller, early = nodes[from].parent, same = true;
    for (let step = 1; step < turn && same; step++) {
      same = early > 0 && nodes[late].name === nodes[early].name && !nodes[early].isThread;
      late = nodes[late].parent;
      early = early > 0 ? nodes[early].parent : 0;
    }
    if (same) return from;
  }
  return -1;
}

// How many frames a frame of left out ones stands for.
const leftOut = name => Number(data.names[name].replace(/\D/g, ''));

// Builds the tree anew. Gives the frames, and for each frame of the file what became of it.
function rebuild(frames, { fold, threads }) {
  const nodes = [], children = [], target = new Int32Array(frames.depth.length), open = [];
  const sides = frames.weights[0] === frames.weights[1] ? [0] : [0, 1];
  const add = (i, parent) => {
    nodes.push({
      from: i, parent, name: frames.name[i], isThread: frames.sort[i] === THREAD, weight: [0, 0], own: [0, 0], other: [0, 0],
      widest: -1, left: 0, calls: [],
    });
    children.push(new Map());
    return nodes.length - 1;
  };
  for (let i = 0; i < frames.depth.length; i++) {
    open.length = frames.depth[i];
    const caller = open.length ? open[open.length - 1] : -1;
    let node;
    if (caller < 0) {
      node = add(i, -1);
    } else if (!threads && frames.sort[i] === THREAD) {
      node = caller;
    } else {
      const isLeftOut = frames.sort[i] === LEFT_OUT, key = isLeftOut ? -1 : frames.name[i];
      node = fold && frames.sort[i] !== THREAD && !isLeftOut ? repeats(nodes, caller, key) : -1;
      if (node < 0) node = children[caller].get(key) ?? -1;
      if (node < 0) {
        node = add(i, caller);
        children[caller].set(key, node);
        nodes[caller].calls.push(node);
      }
      if (isLeftOut) nodes[node].left += leftOut(frames.name[i]);
    }
    target[i] = node;
    open.push(node);
    // What a frame adds by itself: its weight without that of its callees, which add theirs.
    const outer = open.length > 1 ? open[open.length - 2] : -1;
    for (const side of sides) {
      nodes[node].weight[side] += frames.weights[side][i];
      nodes[node].other[side] += frames.others[side][i];
      nodes[node].own[side] += frames.owns[side][i];
      if (outer >= 0) {
        nodes[outer].weight[side] -= frames.weights[side][i];
        nodes[outer].other[side] -= frames.others[side][i];
      }
    }
    if (frames.weights[0][i] > nodes[node].widest) {
      nodes[node].widest = frames.weights[0][i];
      nodes[node].from = i;
    }
  }
  for (let nr = nodes.length - 1; nr > 0; nr--)
    for (const side of sides) {
      nodes[nodes[nr].parent].weight[side] += nodes[nr].weight[side];
      nodes[nodes[nr].parent].other[side] += nodes[nr].other[side];
    }
  return written(frames, nodes, target, sides);
}

// The tree as frames in preorder, siblings ordered as in the file. What has been folded into others is not among them.
function written(frames, nodes, target, sides) {
  const out = { depth: [], name: [], binary: [], sort: [], inlined: [], place: [], weights: [[], []], owns: [[], []], others: [[], []] };
  const number = new Int32Array(nodes.length).fill(-1), todo = [[0, 0]];
  const nameOf = nr => data.names[nodes[nr].name], isLeftOut = nr => frames.sort[nodes[nr].from] === LEFT_OUT ? 1 : 0;
  const order = (a, b) => isLeftOut(a) - isLeftOut(b)
    || (data.order === 'weight' ? nodes[b].weight[0] - nodes[a].weight[0] || nodes[b].weight[1] - nodes[a].weight[1] : 0)
    || (nameOf(a) < nameOf(b) ? -1 : 1);
  while (todo.length) {
    const [nr, depth] = todo.pop(), node = nodes[nr], from = node.from;
    number[nr] = out.depth.length;
    out.depth.push(depth);
    let name = node.name;
    if (node.left && node.left !== leftOut(name)) {
      name = data.names.push(`(${grouped(node.left)} left out)`) - 1;
      data.nameColor.push(0);
      data.forms.push(0);
    }
    out.name.push(name);
    for (const column of ['binary', 'sort', 'inlined', 'place']) out[column].push(frames[column][from]);
    for (const side of sides) {
      out.weights[side].push(node.weight[side]);
      out.owns[side].push(node.own[side]);
      out.others[side].push(node.other[side]);
    }
    const calls = node.calls.filter(call => sides.some(side => nodes[call].weight[side] > 0));
    calls.sort(order).reverse().forEach(call => todo.push([call, depth + 1]));
  }
  if (sides.length === 1) for (const column of [out.weights, out.owns, out.others]) column[1] = column[0];
  // What is not shown by itself is where it was called.
  for (let nr = 0; nr < nodes.length; nr++) if (number[nr] < 0) number[nr] = number[nodes[nr].parent];
  return { frames: out, became: target.map(node => number[node]) };
}

// Shows the frames as asked for; zoom and focus go along.
let became = null;
function regroup() {
  const fromFile = i => became === null ? i : Math.max(0, became.indexOf(i));
  const [zoom, focus] = [fromFile(state.zoom), fromFile(state.focus)];
  if (state.fold || !state.threads) {
    const built = rebuild(whole, state);
    became = built.became;
    take(built.frames);
  } else {
    became = null;
    take(whole);
  }
  const toShown = i => became === null ? i : became[i];
  state.zoom = toShown(zoom);
  state.focus = toShown(focus);
  if (weights[state.side][state.zoom] === 0) state.zoom = 0;
  listMatches();
}

