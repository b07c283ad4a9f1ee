// Flame graphs in a browser: what is drawn is what the folded stacks say; zoom, search, reset, keys; nothing runs that should not.
import path from 'node:path';
import { boxes, check, equal, finish, folded, launch, made, nameOf, near, open, percent, readperf, text, total, work } from './browser.mjs';

const EDGE = 10, WIDTH = 1200 - 2 * EDGE;
const browser = await launch();

async function recording(kind, file, extension) {
  const out = path.join(work, kind + '.' + extension);
  readperf('export', '--min-share', '0', file, '-o', out);
  const page = await open(browser, out);
  const stacks = folded(file), whole = total(stacks);
  const first = await boxes(page);

  // Every path with its weight, from the folded stacks; every frame wide enough to see is one of them, as wide as its weight.
  const weights = new Map();
  for (const { stack, weight } of stacks)
    for (let length = 1; length <= stack.length; length++) {
      const key = JSON.stringify(stack.slice(0, length));
      weights.set(key, (weights.get(key) || 0) + weight);
    }
  const open_ = [];
  for (const box of first) {
    open_.length = box.depth;
    open_.push(nameOf(box));
    const weight = box.depth === 0 ? whole : weights.get(JSON.stringify(open_.slice(1)));
    check(weight !== undefined, `${kind}.${extension}: no stack is ${open_.join(';')}`);
    near(box.width, weight / whole * WIDTH, 1, `${kind}.${extension}: width of ${open_.join(';')}`);
    check(box.label.includes(`: ${percent(weight / whole)}, `), `${kind}.${extension}: share of ${box.label}`);
  }
  const visible = [...weights.values()].filter(weight => weight / whole * WIDTH >= 10.1).length;
  check(first.length >= visible + 1, `${kind}.${extension}: ${first.length} frames drawn, ${visible} stacks are wide enough`);
  equal(nameOf(first[0]), 'all', 'the outermost frame');
  near(first[0].width, WIDTH, 1, 'its width');

  // Zoom by click: the frame becomes as wide as the picture, its callers fade.
  const target = first.filter(box => box.depth >= 2 && box.width < WIDTH * 0.9).sort((a, b) => b.width - a.width)[0];
  if (target) {
    await page.locator('#' + target.id).click({ position: { x: 1, y: 4 } });
    const zoomed = await boxes(page);
    const again = zoomed.find(box => box.id === target.id) || { width: 'nothing of ' + JSON.stringify([target, await text(page, 'flame-where'), zoomed.length]) };
    near(again.width, WIDTH, 1, `${kind}.${extension}: zoomed width of ${target.label}`);
    equal(zoomed.filter(box => box.class.includes('faded')).length, target.depth, 'callers faded');
    check((await text(page, 'flame-where')).includes('Zoomed to ' + target.label), 'what is zoomed is said');
    await page.locator('#flame-reset').click();
    equal((await boxes(page)).length, first.length, `${kind}.${extension}: all frames are back after reset`);
  }

  // Search: the share of all stacks with a match in them, each once.
  const names = [...new Set(stacks.flatMap(({ stack }) => stack))].sort();
  for (const name of names.slice(0, 5)) {
    const escaped = name.replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&');
    const flags = /\p{Lu}/u.test(escaped) ? 'u' : 'iu';
    const hit = total(stacks.filter(({ stack }) => stack.some(level => new RegExp(escaped, flags).test(level))));
    await page.locator('#flame-search').fill(escaped);
    await page.waitForFunction(() => document.getElementById('flame-matched').textContent !== '');
    equal(await text(page, 'flame-matched'), `matched ${percent(hit / whole)}`, `${kind}.${extension}: matches of ${escaped}`);
    check(await page.locator('#flame-frames .hit').count() > 0, 'matches are marked');
    await page.locator('#flame-reset').click();
  }
  await page.locator('#flame-search').fill('[(');
  await page.waitForFunction(() => document.getElementById('flame-matched').textContent !== '');
  equal(await text(page, 'flame-matched'), 'matched 0.00 %', 'what is no expression is text');
  await page.locator('#flame-reset').click();
  equal(await text(page, 'flame-matched'), '', 'reset forgets the search');
  equal(page.problems.join('; '), '', `${kind}.${extension}: problems`);
  return page;
}

async function keys(page) {
  await page.keyboard.press('/');
  equal(await page.evaluate(() => document.activeElement.id), 'flame-search', '/ goes to the search');
  await page.keyboard.press('Escape');
  equal(await page.evaluate(() => document.activeElement.id), 'flame-frames', 'escape goes to the frames');
  await page.keyboard.press('Control+f');
  equal(await page.evaluate(() => document.activeElement.id), 'flame-search', 'Ctrl-F goes to the search');
  await page.keyboard.press('Escape');
  const focus = () => page.evaluate(() => document.getElementById('flame-frames').getAttribute('aria-activedescendant'));
  await page.keyboard.press('Home');
  equal(await focus(), 'f0', 'home goes to the outermost frame');
  await page.keyboard.press('ArrowUp');
  equal(await focus(), 'f1', 'up goes to what is called');
  await page.keyboard.press('ArrowUp');
  const called = await focus();
  await page.keyboard.press('Enter');
  near((await boxes(page)).find(box => box.id === called).width, WIDTH, 1, 'enter zooms');
  await page.keyboard.press('Escape');
  near((await boxes(page))[0].width, WIDTH, 1, 'escape shows everything');
  check(!(await boxes(page)).some(box => box.class.includes('faded')), 'nothing is faded then');
  await page.keyboard.press('i');
  const [all, next] = await boxes(page);
  check(next.y > all.y, 'icicles hang from the outermost frame');
  await page.keyboard.press('i');
}

// Buttons and keys that change the picture as a whole, on a graph that is taller than the window.
async function tall(extension) {
  const out = path.join(work, 'tall.' + extension);
  readperf('export', made('tall'), '-o', out);
  const page = await open(browser, out);
  const where = name => page.evaluate(name => {
    const box = Array.from(document.querySelectorAll('#flame-frames rect[role]')).find(box => box.getAttribute('aria-label').startsWith(name + ' ') || box.getAttribute('aria-label').startsWith(name + ':'));
    const { top, bottom } = box.getBoundingClientRect();
    return { top, bottom, bar: document.getElementById('flame-bar').getBoundingClientRect().bottom, window: window.innerHeight };
  }, name);
  const inSight = ({ top, bottom, bar, window }) => top >= bar - 0.5 && bottom <= window + 0.5;
  // The bar follows a scroll when the browser tells of it.
  const comesInSight = async name => {
    for (let patience = 40; patience > 0 && !inSight(await where(name)); patience--) await page.waitForTimeout(50);
    return inSight(await where(name));
  };
  check(await comesInSight('all'), `tall.${extension}: flames open at their root: ${JSON.stringify(await where('all'))}`);
  await page.locator('#flame-flip').click();
  await page.waitForTimeout(50);
  check(await comesInSight('all'), `tall.${extension}: icicles are shown from their root on: ${JSON.stringify(await where('all'))}`);
  await page.keyboard.press('i');
  await page.waitForTimeout(50);
  check(await comesInSight('all'), `tall.${extension}: and flames again: ${JSON.stringify(await where('all'))}`);

  // Enter goes from the widest match to the next one.
  await page.locator('#flame-search').fill('top');
  const matches = [];
  for (let nr = 0; nr < 3; nr++) {
    await page.keyboard.press('Enter');
    await page.waitForTimeout(50);
    matches.push((await text(page, 'flame-where')).replace(/: [0-9.]+ %.*/, ''));
    check(await comesInSight(['[top_60]', '[top_30]', '[top_10]'][nr]), `tall.${extension}: match ${nr} is in sight`);
  }
  equal(matches.join('; '), 'Match 1 of 3: [top_60] (top_60); Match 2 of 3: [top_30] (top_30); Match 3 of 3: [top_10] (top_10)', 'matches by width');
  await page.locator('#flame-reset').click();

  // Recursion folded: of a function that calls itself one is left, of two that call one another in turn one each.
  const shown = async () => (await boxes(page)).map(box => '  '.repeat(box.depth) + nameOf(box) + box.label.match(/: [0-9.]+ %, [^,]*/)[0]).join('\n');
  const before = await shown();
  await page.locator('#flame-fold').click();
  equal(await shown(), `all: 100.00 %, 100.000 µs
  tall: 100.00 %, 100.000 µs
    [main]: 100.00 %, 100.000 µs
      [again]: 60.00 %, 60.000 µs
        [top_60]: 60.00 %, 60.000 µs
      [ping]: 40.00 %, 40.000 µs
        [pong]: 40.00 %, 40.000 µs
          [top_10]: 10.00 %, 10.000 µs
          [top_30]: 30.00 %, 30.000 µs`, `tall.${extension}: folded`);
  await page.keyboard.press('p');
  check(!(await shown()).includes('tall'), 'the row of processes is left out');
  check(await comesInSight('all'), 'the root is in sight');
  await page.keyboard.press('p');
  await page.keyboard.press('r');
  equal(await shown(), before, `tall.${extension}: unfolded`);
  equal(page.problems.join('; '), '', 'tall.' + extension);
  await page.close();

  const inverted = path.join(work, 'inverted.' + extension);
  readperf('export', '--inverted', made('tall'), '-o', inverted);
  const icicles = await open(browser, inverted);
  const { y } = (await boxes(icicles))[0];
  check(y > 0 && y < 200, `inverted.${extension} opens at its root: ${y}`);
  await icicles.close();
}

for (const extension of ['svg', 'html']) {
  await tall(extension);
  await (await recording('multi', path.join(process.env.FIXTURES, 'multi/perf.data'), extension)).close();
  const page = await recording('after', made('after'), extension);
  await keys(page);
  await page.locator('#f1').hover({ position: { x: 30, y: 5 } });
  check((await text(page, 'flame-tip')).includes('100.00 %'), 'the hint tells the share');
  check((await text(page, 'flame-tip')).includes('200 samples'), 'the hint tells the samples');
  await page.close();

  // Names that are markup are text.
  const hostile = path.join(work, 'hostile.' + extension);
  readperf('export', made('hostile'), '-o', hostile);
  const attacked = await open(browser, hostile);
  const names = (await boxes(attacked)).map(nameOf);
  for (const name of ['[<script>window.hacked=1<]', '[]]><script>window.hacked=1<]', '["><img src=x onerror=window.hacked=1>]', '[größe-😀]'])
    check(names.includes(name), `${name} is shown as it is; there are ${JSON.stringify(names.map(n => n.slice(0, 60)))}`);
  check(names.every(name => !/[\x00-\x1f\x7f\u202e]/.test(name)), 'no control characters');
  equal(await attacked.evaluate(() => window.hacked), undefined, 'nothing of a name runs');
  equal(await attacked.evaluate(() => document.querySelectorAll('img, b.hacked').length), 0, 'no name is an element');
  equal(attacked.problems.join('; '), '', 'hostile.' + extension);
  await attacked.close();
  const still = await open(browser, hostile, { javaScriptEnabled: false });
  equal(still.problems.join('; '), '', 'without scripts: hostile.' + extension);
  check(await still.locator('#flame-still rect').count() > 10, 'without scripts there is a picture');
  await still.close();

  // Two recordings.
  const change = path.join(work, 'change.' + extension);
  readperf('export', '--base', made('before'), made('after'), '-o', change);
  const compared = await open(browser, change);
  const classes = Object.fromEntries((await boxes(compared)).map(box => [nameOf(box), box.class.split(' ')[0]]));
  const step = name => Number(classes[name].slice(1));
  equal(step('[same]'), 6, 'half is still half');
  check(step('[grows]') > 6 && step('[fresh]') > step('[grows]'), `what grows is red: ${JSON.stringify(classes)}`);
  equal(classes['[gone]'], undefined, 'what has vanished has no width');
  equal(await text(compared, 'flame-base'), 'Base, 2 vanished (30.00 %)', 'but it is told');
  await compared.locator('#flame-base').click();
  const base = (await boxes(compared)).find(box => nameOf(box) === '[gone]');
  check(base.class.includes('gone') && base.class.startsWith('d0'), 'and shown in the widths of the base: ' + base.class);
  near(base.width, WIDTH * 0.3, 1, 'its width');
  equal(compared.problems.join('; '), '', 'change.' + extension);
  await compared.close();

  // What is left out may match, too: the share is then the least. Colours by name have no legend of kinds.
  const pruned = path.join(work, 'pruned.' + extension);
  readperf('export', '--min-share', '45', made('after'), '-o', pruned);
  const most = await open(browser, pruned);
  const kinds = () => most.evaluate(() => Array.from(document.querySelectorAll('.flame-legend > span'))
    .filter(item => item.getBoundingClientRect().width > 0).map(item => item.textContent).join());
  for (const [searched, told] of [['same', 'matched ≥ 50.00 %'], ['work', 'matched 100.00 %'], ['fresh', 'matched ≥ 0.00 %']]) {
    await most.locator('#flame-search').fill(searched);
    await most.waitForFunction(() => document.getElementById('flame-matched').textContent !== '');
    equal(await text(most, 'flame-matched'), told, `pruned.${extension}: ${searched}`);
    await most.locator('#flame-reset').click();
  }
  equal(await kinds(), 'user,left out', 'kinds have colours');
  await most.locator('#flame-color').click();
  equal(await kinds(), 'left out', 'names have others');
  await most.close();

  // Dark where the viewer likes it.
  const dark = await open(browser, path.join(work, 'after.' + extension), { colorScheme: 'dark' });
  equal(await dark.evaluate(() => getComputedStyle(document.getElementById('flamegraph')).backgroundColor), 'rgb(22, 24, 28)', 'dark');
  await dark.close();

  // 50,000 frames.
  const many = path.join(work, 'many.' + extension);
  readperf('export', made('many'), '-o', many);
  const large = await open(browser, many);
  equal(await large.evaluate(() => JSON.parse(document.getElementById('flame-data').textContent).depth.length), 50002, 'frames');
  const took = await large.evaluate(async () => {
    const before = performance.now(), box = document.getElementById('flame-search');
    box.value = 'b1.3';
    box.dispatchEvent(new Event('input'));
    while (!document.getElementById('flame-matched').textContent) await new Promise(requestAnimationFrame);
    return performance.now() - before;
  });
  console.log(`50,000 frames, ${extension}: opened in ${large.opened_ms.toFixed(0)} ms, searched in ${took.toFixed(0)} ms`);
  check(large.opened_ms < 15000 && took < 5000, 'in time');
  equal(large.problems.join('; '), '', 'many.' + extension);
  await large.close();
}
await browser.close();
finish();
