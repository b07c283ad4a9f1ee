// `readperf view` with a million samples: everything that can be done in the page is done once, and what it says then is compared with
// `report --json`, the folded stacks and `diff --json` under the same filters. RECORDING=FILE takes a recording of one's own instead.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { boxes, check, equal, finish, folded, launch, nameOf, near, percent, readperf, text, total, work } from './browser.mjs';
import { changesOf, click, counted, drag, openHottest, press, report, rowsOf, sameChanges, sameNumbers, sameRows, searchFor, serve, settled, visit, wayOfFocus } from './served.mjs';
import { Ways } from './ways.mjs';

const own = process.env.RECORDING;
const file = own ?? path.join(work, 'large.perf.data');
if (!own) execFileSync('python3', [path.join(work, 'large.py'), file]);
const names = own ? [] : ['--kallsyms', file + '.kallsyms'];
const reported = (...words) => report(file, ...names, ...words) ?? { samples: 0, rows: [] };
const all = reported(), event = ['--event', all.name];
const stacks = (...words) => folded(file, ...names, ...event, ...words);
const whole = new Ways(stacks());

const browser = await launch();
const began = performance.now();
const site = await serve(file, ...names), page = await visit(browser, site);
console.log(`first picture: ${(performance.now() - began).toFixed(0)} ms`);
const state = () => new URL(page.url()).searchParams;
const show = async query => { await page.goto(site.address + query); await settled(page); };
const asked = query => page.evaluate(query => fetch('data/' + query).then(answer => answer.json()), query);
const is = regex => stack => stack.some(name => regex.test(name));

/** Every frame of an answer has the weight of its way, and what is drawn says so. */
async function sameFlame(ways, what, query = '') {
  const data = await asked(`flame?columns=${2 * await page.locator('#view').evaluate(view => view.clientWidth)}&${query}`), way = [];
  let compared = 0;
  data.depth.forEach((depth, at) => {
    way.length = depth;
    way.push(data.names[data.name[at]]);
    if (data.sort[at] === 7) return;
    compared++;
    equal(data.newWeight[at], ways.weight(way.slice(1)), `${what}: ${way.join(';')}`);
  });
  check(compared > 10, `${what}: ${compared} frames`);
  for (const box of await boxes(page)) {
    const at = Number(box.id.slice(1));
    equal(box.label.match(/: ([0-9.]+ %), /)?.[1], percent(data.newWeight[at] / data.newWeight[0]), `${what}: drawn ${box.label}`);
  }
}

/** What is searched for is found in so many of all stacks. */
async function sameSearch(list, pattern, what) {
  await searchFor(page, pattern);
  const regex = new RegExp(pattern, 'i');
  equal(await text(page, 'matched'), 'matched ' + percent(total(list.filter(({ stack }) => is(regex)(stack))) / total(list)), `${what}: ${pattern}`);
  await searchFor(page, '');
  equal(await text(page, 'matched'), '', 'nothing is searched for');
}

// The functions of the kernel that take most, and the widest frame without a name.
const named = all.rows.filter(row => row.symbol && !/^0x|^\[/.test(row.symbol) && !row.symbol.endsWith('(inlined)'));
const bySelf = [...named].sort((a, b) => b.self_period - a.self_period);
const some = [named[0], bySelf[0], named[Math.min(20, named.length - 1)]].map(row => row.symbol);

// The flame graph: as it is, zoomed, from the leaves; what is searched for is counted in all stacks, also in frames that have no room.
{
  const list = whole.stacks, rare = named.slice(-40).map(row => row.symbol).find(name => /^\w+$/.test(name)) ?? some[2];
  await sameFlame(whole, 'flame graph');
  for (const pattern of [some[0], rare, 'a', '^' + some[1] + '$']) await sameSearch(list, pattern, 'search');
  const frame = (await boxes(page)).filter(box => box.depth === 3)[0];
  await page.locator('#' + frame.id).click({ position: { x: 3, y: 5 } });
  await settled(page);
  check(state().get('zoom'), 'zoomed: ' + page.url());
  await sameFlame(whole, 'zoomed', 'zoom=' + state().get('zoom'));
  await sameSearch(list, rare, 'search while zoomed');
  await press(page, '0', 'i');
  await sameSearch(list, some[0], 'search from the leaves');
  await sameSearch(list, rare, 'search from the leaves');
  for (const box of (await boxes(page)).filter(box => box.depth === 1 && !box.label.includes(' left out)'))) {
    equal(box.label.match(/: ([0-9.]+ %), /)[1], percent(whole.share(stack => stack.at(-1) === nameOf(box))), 'leaf ' + nameOf(box));
  }
  await press(page, 'i', '1');
  await sameSearch(list, some[1], 'search in order of time');
  await press(page, '2');
}

// Code without a name is offered nothing that goes by its name.
{
  const actions = () => page.evaluate(() => Array.from(document.querySelectorAll('#view .actions button'), button => button.textContent).join());
  await show('?inverted=1');
  const frames = (await boxes(page)).filter(box => box.width > 10), nameless = frames.find(box => nameOf(box).startsWith('[')), one = frames.find(box => some.includes(nameOf(box)));
  // Of other recordings all may have names.
  check(one && (own || nameless), 'frames with and without a name');
  for (const [box, offered] of [[nameless, false], [one, true]].filter(([box]) => box)) {
    await page.locator('#' + box.id).click({ position: { x: 3, y: 5 } });
    await settled(page);
    equal((await actions()).includes('Focus'), offered, `${box.label}: ${await actions()}`);
    for (const key of offered ? [] : ['f', 'x', 'm', 'o']) await press(page, key);
    equal(await page.locator('#steps li').count(), 0, 'no step of ' + box.label);
    await press(page, '3');
    equal((await actions()).includes('Focus'), offered, 'callers of ' + box.label);
    await page.reload();
    await settled(page);
    await press(page, 'f');
    equal(await page.locator('#steps li').count(), offered ? 1 : 0, 'behind a reload: ' + box.label);
    await show('?inverted=1');
  }
}

// Functions, and each change of stacks with the way back: by the step, by key, by the browser.
await show('?view=functions');
const rows = await rowsOf(page);
sameRows(rows, all, 'functions');
const back = [() => click(page, '#steps button'), () => press(page, 'b'), async () => { await page.goBack(); await settled(page); }];
const binaryOf = name => named.find(row => row.symbol === name).dso;
for (const [nr, [key, option]] of [['f', '--focus'], ['x', '--ignore'], ['m', '--hide'], ['o', '--show-from'], ['l', '--collapse']].entries()) {
  const name = some[nr % some.length], pattern = '^' + name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
  await searchFor(page, '^' + name + '$');
  await click(page, '#view tbody tr:first-child');
  await press(page, key);
  await searchFor(page, '');
  const words = [option, key === 'l' ? binaryOf(name) : pattern], expected = reported(...words);
  equal(await counted(page), expected.samples, words.join(' '));
  sameRows(await rowsOf(page), expected, words.join(' '));
  await press(page, '2');
  await sameFlame(new Ways(stacks(...words)), words.join(' '), state().toString());
  await press(page, '5');
  // Each step is two in the browser's history here: views are, too.
  if (nr % 3 === 2) { await back[2](); await back[2](); await page.goForward(); await settled(page); equal(await page.locator('#steps li').count(), 1, 'forward'); await click(page, '#steps button'); }
  else await back[nr % 3]();
  await press(page, '5');
  equal(await page.locator('#steps li').count(), 0, 'taken back: ' + words.join(' '));
  check(JSON.stringify(await rowsOf(page)) === JSON.stringify(rows), 'everything is there again');
}
await press(page, 'r');
sameRows(await rowsOf(page), reported('--collapse-recursion'), 'recursion collapsed');
await press(page, 'r');

// A subtree of the tree, which has the shares of the folded stacks.
{
  await press(page, '4');
  await page.locator('#view tbody tr').first().focus();
  await openHottest(page);
  const tree = await page.evaluate(() => {
    const way = [];
    return Array.from(document.querySelectorAll('#view tbody tr:has(.name)'), row => {
      way.length = Number(row.getAttribute('aria-level')) - 1;
      way.push(row.querySelector('.name').textContent);
      return { way: [...way], share: row.querySelector('td.number span').textContent };
    });
  });
  check(tree.length > 20, `${tree.length} rows of the tree`);
  for (const { way, share } of tree) equal(share, percent(whole.weight(way) / whole.total), way.join(';'));
  const way = await wayOfFocus(page);
  await press(page, 'u', '5');
  const below = whole.stacks.filter(({ stack }) => way.every((name, at) => stack[at] === name));
  check((await text(page, 'counted')).includes(`(${percent(total(below) / whole.total)} of the recording)`), `${way}: ${await text(page, 'counted')}`);
  // The browser's way back: the view, then the step.
  await page.goBack();
  await page.goBack();
  await settled(page);
  equal(await counted(page), all.samples, 'back from a subtree');
  await page.goForward();
  await settled(page);
  check(state().has('subtree'), 'and there again');
  await press(page, 'b');
  equal(await counted(page), all.samples, 'a key takes it back');
  await press(page, '2');
}

// Threads, a process, samples as the weight.
const threads = await page.evaluate(() => Array.from(document.getElementById('thread').options, option => option.value).filter(Boolean));
await press(page, '5');
for (const thread of [threads[0], threads[Math.min(9, threads.length - 1)]]) {
  await page.selectOption('#thread', thread);
  await settled(page);
  sameRows(await rowsOf(page), reported(thread.startsWith('p') ? '--pid' : '--tid', thread.slice(1)), 'thread ' + thread);
}
await page.selectOption('#thread', '');
await page.selectOption('#weight', 'samples');
await settled(page);
sameNumbers(await rowsOf(page), all.rows, row => row.cells[1], other => percent(other.samples / all.samples), 'samples');
await page.selectOption('#weight', 'period');
await settled(page);

// Nine choices without waiting: the last one counts.
{
  for (let turn = 0; turn < 9; turn++) await page.keyboard.press('n');
  await settled(page);
  const last = threads[Math.min(9, threads.length) - 1], expected = reported(last.startsWith('p') ? '--pid' : '--tid', last.slice(1));
  equal(await counted(page), expected.samples, 'the last of nine choices');
  sameRows(await rowsOf(page), expected, 'the last of nine choices');
  await press(page, 'Escape', '5');
}

// Time: a range that is dragged, the wheel, the stack of a sample, the heat map.
// The file is not in order of time: the earliest sample is among the first.
const first = readperf('dump', '--json', '--type', 'SAMPLE', '--limit', '10000', file).trim().split('\n').reduce((least, line) => Math.min(least, JSON.parse(line).time), Infinity);
const length = (await asked('time?buckets=10')).length_ns;
const range = () => ['--time', `${first + Number(state().get('from'))}ns,${first + Number(state().get('to'))}ns`];
{
  const canvas = page.locator('#strip .tracks canvas');
  await drag(page, canvas, [500, 10], [700, 12]);
  const words = range(), expected = reported(...words);
  check(expected.samples > 0 && expected.samples < all.samples, `${expected.samples} samples in a range`);
  equal(await counted(page), expected.samples, 'a range of time');
  sameRows(await rowsOf(page), expected, 'a range of time');
  await press(page, '2');
  await sameFlame(new Ways(stacks(...words)), 'a range of time', state().toString());
  await page.goBack();
  await page.goBack();
  await settled(page);
  equal(await counted(page), all.samples, 'back');

  await canvas.hover({ position: { x: 600, y: 10 } });
  await page.mouse.wheel(0, -200);
  await page.waitForFunction(() => /^\d+-\d+$/.test(new URL(location.href).searchParams.get('seen') ?? ''));
  await settled(page);
  const [from, to] = state().get('seen').split('-').map(Number), seen = await asked('time?buckets=100&seen=' + state().get('seen'));
  const inSeen = reported('--time', `${first + from}ns,${first + to - 1}ns`).samples;
  near(seen.all.reduce((sum, one) => sum + one, 0), inSeen, 2, 'samples of what is seen');
  equal(await counted(page), all.samples, 'what is seen chooses nothing');

  const box = await canvas.boundingBox(), at = from + (640 - 190) / (box.width - 190) * (to - from);
  await canvas.click({ position: { x: 640, y: 10 } });
  await page.waitForFunction(() => document.querySelector('.stack:not([hidden]) li'));
  const around = readperf('export', '-f', 'jsonl', ...names, ...event, '--time', `${Math.floor(first + at - 1e6)}ns,${Math.ceil(first + at + 1e6)}ns`, file)
    .trimEnd().split('\n').map(line => JSON.parse(line));
  const frames = await page.evaluate(() => Array.from(document.querySelectorAll('.stack li bdi:first-child'), name => name.textContent).join(';'));
  const least = Math.min(...around.map(line => Math.abs(line.time_ns - first - at)));
  const nearest = around.filter(line => Math.abs(line.time_ns - first - at) <= least + 1);
  check(nearest.some(line => line.stack.map(frame => frame.symbol ?? '0x' + frame.address.slice(2).padStart(16, '0')).join(';') === frames), `the stack of a sample: ${frames}`);
  await press(page, 'Escape', 'h');
  const map = page.locator('.heat canvas');
  await drag(page, map, [400, 20], [500, 60]);
  const chosen = reported(...range());
  check(chosen.samples > 0, 'something is chosen in the map');
  equal(await counted(page), chosen.samples, 'chosen in the map');
  await page.locator('.hottest button').first().click();
  await settled(page);
  equal(await counted(page), reported(...range()).samples, 'a hottest stretch');
}

// Callers and callees, records, and all of the state behind a reload.
{
  const name = some[0];
  await show('?view=sandwich&function=' + encodeURIComponent(name));
  const sides = await page.evaluate(() => Array.from(document.querySelectorAll('#view section'), section => Array.from(section.querySelectorAll('tbody tr'), row => [
    row.querySelector('.name').textContent, row.querySelector('td.number span').textContent])));
  const follows = (a, b) => percent(whole.share(stack => stack.some((one, at) => one === a && stack[at + 1] === b)));
  for (const [caller, share] of sides[0].slice(0, 30)) equal(share, follows(caller, name), `${caller} calls ${name}`);
  for (const [callee, share] of sides[2].slice(0, 30)) equal(share, follows(name, callee), `${name} calls ${callee}`);
  check(sides[0].length + sides[2].length > 0, 'calls');

  await show('?view=recording&part=records');
  const records = readperf('dump', '--json', '--limit', '60', file).trimEnd().split('\n').map(line => JSON.parse(line));
  const listed = await page.evaluate(() => Array.from(document.querySelectorAll('.records tbody tr'), row => Array.from(row.children, cell => cell.textContent)));
  check(listed.length > 5, 'records');
  listed.slice(0, 50).forEach((cells, at) => equal(cells.slice(1, 3).join(), ['0x' + records[at].offset.toString(16), records[at].type].join(), 'record ' + at));
  await page.locator('.long').focus();
  await press(page, 'End');
  check(Number(state().get('record')) + 1 >= all.samples, 'the last record: ' + page.url());

  const pattern = '^' + some[1] + '$', thread = threads.find(one => one.startsWith('t'));
  const query = `?view=functions&focus=${encodeURIComponent(pattern)}&tid=${thread.slice(1)}&weight=samples`;
  await show(query);
  const before = JSON.stringify(await rowsOf(page));
  equal(await counted(page), reported('--focus', pattern, '--tid', thread.slice(1)).samples, 'a copied link');
  await page.reload();
  await settled(page);
  check(JSON.stringify(await rowsOf(page)) === before, 'a reload');
}
equal(page.problems.join(), '', 'a million samples');
await page.close();
await site.stop();

// Compared with its first half.
{
  const half = path.join(work, 'half.data');
  readperf('edit', file, '-o', half, '--time', `${first}ns,${first + Math.floor(length / 2)}ns`);
  const site = await serve(file, '--base', half, ...names), page = await visit(browser, site, '?view=functions&sort=change');
  await sameChanges(page, [half, file], names, 'a base', all.name);
  const shown = await changesOf(page), nameless = shown.filter(row => row.name.startsWith('['));
  check((own || nameless.length > 0) && !shown.some(row => row.name.startsWith('0x')), 'addresses are one row a binary');
  check(nameless.every(row => !row.name.startsWith('[[')), 'one pair of brackets');
  await page.goto(site.address + `?view=functions&focus=${encodeURIComponent('^' + some[0] + '$')}`);
  await settled(page);
  await sameChanges(page, [half, file], [...names, '--focus', '^' + some[0] + '$'], 'a base and a focus', all.name);
  equal(page.problems.join(), '', 'a base');
  await page.close();
  await site.stop();
}

await browser.close();
console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`);
finish();
