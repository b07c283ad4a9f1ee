// What can be chosen in the page besides what functions offer: what is searched for, CPUs, tracks of processes and of all threads, the stack of a
// sample on a track; and the keys of speedscope. Numbers are those of `report` and of the samples as they are exported.
import path from 'node:path';
import { boxes, check, equal, finish, folded, launch, percent, readperf, text } from './browser.mjs';
import { counted, openHottest, press, report, rowsOf, sameRows, serve, settled, visit, wayOfFocus } from './served.mjs';

const multi = path.join(process.env.FIXTURES, 'multi', 'perf.data');
const everything = path.join(process.env.FIXTURES, 'everything', 'perf.data');
const browser = await launch();
const state = page => new URL(page.url()).searchParams;
const lines = (...words) => readperf('export', '-f', 'jsonl', ...words).trimEnd().split('\n').map(line => JSON.parse(line));

// A search becomes a focus, or what is left out: of the share that it said.
{
  const site = await serve(multi), page = await visit(browser, site);
  for (const [how, pattern] of [['focus', '_DL_MAP|malloc'], ['ignore', '_dl_map']]) {
    await page.fill('#search', pattern);
    await page.waitForFunction(() => document.getElementById('matched').textContent);
    const matched = (await text(page, 'matched')).replace('matched ', '');
    await page.click('#search-' + how);
    await settled(page);
    equal(await page.inputValue('#search'), '', 'it is searched for no longer');
    const regex = pattern === '_dl_map' ? '(?i)_dl_map' : pattern;
    equal(state(page).get(how), regex, 'it is in the address');
    const event = report(multi, '--' + how, regex);
    equal(await counted(page), event.samples, how);
    const share = event.period / report(multi).period;
    equal(matched, percent(how === 'focus' ? share : 1 - share), 'the share that was found');
    await press(page, '5');
    sameRows(await rowsOf(page), event, how);
    await page.click('#steps button');
    await settled(page);
    check(!state(page).has(how), 'taken back');
    await press(page, '2');
  }
  await page.fill('#search', 'a(');
  await settled(page);
  await page.click('#search-focus');
  await settled(page);
  equal(state(page).get('focus'), '(?i)a\\(', 'what is no regular expression is searched for as it is');
  equal(await text(page, 'trouble'), '', 'and is no error');
  // Look-around is a regular expression for browsers alone: nothing takes it for one.
  await press(page, 'Escape');
  await page.fill('#search', '(?!x)malloc');
  await settled(page);
  equal(await page.evaluate(() => document.getElementById('no-pattern').hidden), false, 'it is said that this is none');
  equal((await text(page, 'matched')).replace('≥ ', ''), 'matched 0.00 %', 'the picture searches for it as it is');
  await page.click('#search-focus');
  await settled(page);
  equal([await text(page, 'trouble'), state(page).get('focus')].join(), ',(?i)\\(\\?!x\\)malloc', 'and so does what is chosen');
  equal(page.problems.join(), '', 'search');
  await page.close();
  await site.stop();
}

// What cannot be answered is said, can be seen, and can be taken back; the end of a time alone can, too.
{
  const site = await serve(multi), page = await visit(browser, site);
  for (const [query, crumb] of [['?focus=(', 'focus /(/ ×'], ['?tid=-1', 'thread -1 ×']]) {
    await page.goto(site.address + query);
    await settled(page);
    check((await text(page, 'trouble')).endsWith('Show all of the recording'), query + ': ' + await text(page, 'trouble'));
    equal(await page.locator('#steps button').textContent(), crumb, query);
    await page.click('#trouble button');
    await settled(page);
    equal([await text(page, 'trouble'), new URL(page.url()).search].join(), ',', query + ' is taken back');
    equal(await counted(page), report(multi).samples, 'everything');
  }
  await page.goto(site.address + '?to=1000000');
  await settled(page);
  equal(await page.locator('#steps button').textContent(), 'the beginning to 1.000 ms ×', 'an end');
  await page.click('#steps button');
  await settled(page);
  equal(new URL(page.url()).search, '', 'no end');
  await page.close();
  await site.stop();
}

// Who comes back finds branches open, and goes on at the same row.
{
  const site = await serve(multi), page = await visit(browser, site, '?view=tree');
  await page.locator('#view tbody tr').first().click();
  const rows = () => page.locator('#view tbody tr').count(), closed = await rows();
  await openHottest(page);
  const open = await rows();
  check(open > closed, `${open} rows`);
  await press(page, 'a');
  equal(state(page).get('view'), 'code', 'code');
  await page.goBack();
  await settled(page);
  equal(await rows(), open, 'branches');
  await press(page, '5');
  await page.locator('#view tbody tr').nth(4).dblclick();
  await settled(page);
  await page.goBack();
  await settled(page);
  equal(await page.evaluate(() => [...document.querySelectorAll('#view tbody tr')].indexOf(document.activeElement)), 4, 'the row');
  await page.goto(site.address + '?view=tree&inverted=1');
  await settled(page);
  equal((await page.locator('#view thead th').allTextContents()).join(), 'Total,Function, called by', 'nothing is a frame\'s own from the leaves');
  equal(page.problems.join(), '', 'back');
  await page.close();
  await site.stop();
}

// Options of the command line are where the page begins: steps with their names, which can be taken back.
{
  const options = ['--comm', 'tree,work-one', '--cpu', '0,2-3', '--time', '10%-40%,50%-90%', '--dso', 'work,[kernel.kallsyms]', '--hide', '^start_thread$', '--collapse', 'a,b'];
  const site = await serve(multi, ...options), page = await visit(browser, site);
  const event = report(multi, ...options);
  equal(await counted(page), event.samples, 'samples');
  const crumbs = () => page.evaluate(() => Array.from(document.querySelectorAll('#steps button'), button => button.textContent));
  const [first, , between, , end] = (await crumbs())[2].split(/ (to|and) /);
  check([first, between, end].every(time => /^\d/.test(time)) && !(await crumbs())[2].includes('the'), 'times since the first sample: ' + (await crumbs())[2]);
  equal((await crumbs()).filter((_, nr) => nr !== 2).join(), 'threads called tree or work-one ×,CPU 0 or 2-3 ×,in work or [kernel.kallsyms] ×,merged start_thread ×,collapsed a or b ×', 'steps');
  equal(await page.evaluate(() => document.getElementById('cpu').selectedOptions[0].textContent), 'CPU 0 or 2-3', 'CPUs');
  await press(page, '5');
  sameRows(await rowsOf(page), event, 'options');
  // What is between the ranges is veiled: a column in it is darker or lighter than the same without the step.
  const pixels = async () => page.evaluate(() => {
    const canvas = document.querySelector('#strip .tracks canvas'), pen = new OffscreenCanvas(canvas.width, 9).getContext('2d', { willReadFrequently: true }), left = 190 * devicePixelRatio, wide = canvas.width - left;
    pen.drawImage(canvas, 0, 0);
    return [0.05, 0.25, 0.45, 0.7, 0.95].map(at => pen.getImageData(left + Math.round(at * wide), 2, 1, 1).data.join());
  });
  const [before, one, gap, two, behind] = await pixels();
  check(one === two && before === gap && gap === behind && one !== gap, 'veiled: ' + [before, one, gap, two, behind].join(' '));
  await page.click('#steps li:nth-child(3) button');
  await settled(page);
  check(!state(page).has('time'), 'taken back');
  const left = options.filter((_, nr) => nr !== 4 && nr !== 5);
  equal(await counted(page), report(multi, ...left).samples, 'the others are still chosen');
  equal(new Set(await pixels()).size, 1, 'nothing is veiled');
  await page.selectOption('#cpu', '0');
  await settled(page);
  equal(await counted(page), report(multi, ...left.map(word => word === '0,2-3' ? '0' : word)).samples, 'one CPU in the place of several');
  await page.goBack();
  await settled(page);
  await page.goBack();
  await settled(page);
  equal(await counted(page), event.samples, 'back');
  await page.reload();
  await settled(page);
  equal(await counted(page), event.samples, 'reload');
  equal(page.problems.join(), '', 'options');
  await page.close();
  await site.stop();
}

// A subtree: what the folded stacks have along that way, with other steps before and behind it.
{
  const site = await serve(multi), page = await visit(browser, site);
  const stacks = folded(multi, '--event', 'cpu-clock'), along = way => stacks.filter(({ stack }) => way.every((name, at) => stack[at] === name));
  const sum = list => list.reduce((sum, { weight }) => sum + weight, 0), period = report(multi).period;
  await press(page, '+', '+', '+');
  const zoomed = await page.evaluate(() => document.getElementById('flame-line').textContent);
  const way = ['work-one', 'start_thread'];
  check(zoomed.includes(': '), zoomed);
  await press(page, '-');
  check((await text(page, 'flame-line')).startsWith('start_thread'), await text(page, 'flame-line'));
  await press(page, 'u');
  check(/^\d+\.\d+ start_thread$/.test(state(page).get('subtree')), page.url());
  equal(await text(page, 'steps'), 'below start_thread ×', 'a step');
  const share = sum(along(way)) / period;
  check((await text(page, 'counted')).includes(`(${percent(share)} of the recording)`), await text(page, 'counted'));
  equal((await boxes(page)).filter(box => box.depth <= 2).map(box => box.label.split(/:| \(/)[0]).join(), 'all,work-one,start_thread', 'stacks begin with it');
  await page.reload();
  await settled(page);
  check((await text(page, 'counted')).includes(`(${percent(share)} of the recording)`), 'reload');
  // Back, forward, and the same by the mouse.
  const samples = report(multi).samples;
  await page.goBack();
  await settled(page);
  equal(await counted(page), samples, 'back');
  check((await text(page, 'flame-line')).startsWith('start_thread'), 'zoomed as before: ' + await text(page, 'flame-line'));
  await page.click('.actions button:has-text("Only this")');
  await settled(page);
  check((await text(page, 'counted')).includes(`(${percent(share)} of the recording)`), 'by the mouse');
  await page.goBack();
  await settled(page);
  await page.goForward();
  await settled(page);
  check((await text(page, 'counted')).includes(`(${percent(share)} of the recording)`), 'forward');
  // What is looked at stands elsewhere in the address now: it is the step that is taken back, not that.
  await press(page, '4', '2');
  await page.click('#steps button');
  await settled(page);
  equal(await counted(page), samples, 'taken back');
  // From the tree, by key, down a way of several functions.
  await press(page, '4');
  const rows = page.locator('#view tbody tr'), tree = rows.filter({ hasText: 'tree' }).first();
  await tree.focus();
  await openHottest(page);
  // Where it parts, whatever the C library's functions are called here, the larger part is taken.
  await press(page, 'ArrowRight');
  await openHottest(page);
  const deep = await wayOfFocus(page);
  check(deep.length > 3, 'a way: ' + deep);
  await press(page, 'u');
  await press(page, '5');
  check((await text(page, 'counted')).includes(`(${percent(sum(along(deep)) / period)} of the recording)`), `${deep}: ${await text(page, 'counted')}`);
  for (const row of (await rowsOf(page)).filter(row => !row.name.startsWith('0x'))) equal(row.cells[1], percent(sum(along(deep).filter(({ stack }) => stack.at(-1) === row.name)) / sum(along(deep))), 'self of ' + row.name);
  // Where an earlier step leaves nothing of the way, there is nothing, and it can be taken back.
  await page.goto(site.address + '?ignore=start_thread&subtree=' + encodeURIComponent('1539938389.1089612208 start_thread'));
  await settled(page);
  check((await text(page, 'counted')).startsWith('0 samples'), await text(page, 'counted'));
  equal(await page.locator('#steps li').count(), 2, 'both steps');
  await page.click('#steps li:first-child button');
  await settled(page);
  check((await text(page, 'counted')).includes(`(${percent(share)} of the recording)`), 'it is there again');
  equal(page.problems.join(), '', 'subtree');
  await page.close();
  await site.stop();
}

// CPUs.
{
  const site = await serve(everything), page = await visit(browser, site, '?view=functions');
  const cpus = await page.evaluate(() => Array.from(document.getElementById('cpu').options, option => option.value));
  check(cpus.length > 2 && await page.locator('#cpu').isVisible(), 'CPUs: ' + cpus);
  for (const cpu of cpus.slice(1)) {
    await page.selectOption('#cpu', cpu);
    await settled(page);
    sameRows(await rowsOf(page), report(everything, '--cpu', cpu), 'CPU ' + cpu);
    equal(await page.locator('#steps li').count(), 1, 'a step');
  }
  await page.goBack();
  await settled(page);
  equal(await page.inputValue('#cpu'), cpus.at(-2), 'back');
  equal(page.problems.join(), '', 'CPUs');
  await page.close();
  await site.stop();
}

// Tracks: of the busiest threads, of processes, of all threads; a name chooses what it stands for, a click shows the stack of the sample there.
{
  const site = await serve(multi), page = await visit(browser, site), strip = page.locator('#strip .tracks canvas');
  const all = lines('--event', 'cpu-clock', multi), most = list => [...list.reduce((sums, one) => sums.set(one, (sums.get(one) ?? 0) + 1), new Map())].sort((a, b) => b[1] - a[1]);
  const pids = most(all.map(line => line.pid)), tids = most(all.map(line => line.tid));
  const kinds = await page.evaluate(() => Array.from(document.querySelectorAll('.strip-bar option'), option => option.textContent));
  equal(kinds.join(), `Busiest threads: ${tids.length},Processes: ${pids.length},Threads: ${tids.length},No tracks`, 'kinds of tracks');
  await page.selectOption('.strip-bar select', 'processes');
  await settled(page);
  equal(state(page).get('of'), 'processes', 'in the address');
  check((await strip.getAttribute('aria-label')).includes(`; ${pids.length} processes`), await strip.getAttribute('aria-label'));
  const row = at => 34 + at * 20 + 10;
  // In each process the samples of a part of time are those that the export has there.
  const origin = Math.min(...['cpu-clock', 'page-faults/period=16/', 'context-switches/period=2/'].flatMap(event => lines('--event', event, multi).map(line => line.time_ns)));
  const box = await strip.boundingBox();
  await strip.click({ position: { x: 60, y: row(0) } });
  await settled(page);
  equal(state(page).get('pid'), String(pids[0][0]), 'a click on a name chooses the process');
  equal(await counted(page), pids[0][1], 'its samples');
  await page.goBack();
  await settled(page);
  const frames = () => page.evaluate(() => Array.from(document.querySelectorAll('.stack li bdi:first-child'), name => name.textContent));
  // The stack of a sample: of a process, of a thread, of all.
  for (const [kind, at, is] of [['processes', 1, line => line.pid === pids[1][0]], ['threads', 1, line => line.tid === tids[1][0]], ['', -1, () => true]]) {
    await page.selectOption('.strip-bar select', kind);
    await settled(page);
    const length = await page.evaluate(async () => (await (await fetch('data/time?buckets=10')).json()).length_ns);
    const those = all.filter(is), wanted = those[Math.floor(those.length / 2)].time_ns - origin;
    const x = Math.round(190 + wanted / length * (box.width - 190)), time = origin + (x - 190) / (box.width - 190) * length;
    const near = those.reduce((best, line) => Math.abs(line.time_ns - time) < Math.abs(best.time_ns - time) ? line : best);
    await strip.click({ position: { x, y: at < 0 ? 10 : row(at) } });
    await page.waitForFunction(() => document.querySelector('.stack:not([hidden]) li'));
    equal((await frames()).join(';'), near.stack.map(frame => frame.symbol ?? '0x' + frame.address.slice(2).padStart(16, '0')).join(';'), `the stack of a sample: ${kind || 'all'}`);
    await press(page, 'Escape');
    check(!await page.locator('.stack').isVisible(), 'Escape closes it');
  }
  equal(page.problems.join(), '', 'tracks');
  await page.close();
  await site.stop();
}

// The keys of speedscope: zoom and all of it, arrows without a click, threads forth and back.
{
  const site = await serve(multi), page = await visit(browser, site);
  const zoom = () => state(page).get('zoom') ?? '';
  await press(page, '+');
  equal(zoom().split('.').length, 1, 'in: ' + zoom());
  check(zoom(), 'in');
  await press(page, '+');
  equal(zoom().split('.').length, 2, 'further in: ' + zoom());
  await press(page, '-');
  equal(zoom().split('.').length, 1, 'out: ' + zoom());
  await press(page, '0');
  equal(zoom(), '', 'all of it');
  await page.evaluate(() => document.activeElement.blur());
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowRight', '+');
  equal(zoom().split('.').length, 2, 'to the frame that arrows lead to');
  equal(await page.evaluate(() => document.activeElement.id), 'flame-frames', 'the frames have the focus');
  await press(page, '0');
  equal(zoom(), '', 'all of it again');
  // Where nothing else zooms, time does.
  await press(page, '5', '+');
  check(/^\d+-\d+$/.test(state(page).get('seen') ?? ''), 'time: ' + page.url());
  await press(page, '0');
  check(!state(page).has('seen'), 'all of the time');
  const options = await page.evaluate(() => Array.from(document.getElementById('thread').options, option => option.value));
  const chosen = () => state(page).has('tid') ? 't' + state(page).get('tid') : state(page).has('pid') ? 'p' + state(page).get('pid') : '';
  await press(page, 'n', 'n');
  equal(chosen(), options[2], 'the second thread');
  await press(page, 'p');
  equal(chosen(), options[1], 'the first');
  await press(page, 'p');
  equal(chosen(), '', 'all threads');
  await press(page, 't');
  equal(await page.evaluate(() => document.activeElement.id), 'thread', 'the chooser');
  await page.evaluate(() => document.activeElement.blur());
  await press(page, 'r');
  equal(state(page).get('collapse-recursion'), '1', 'recursion');
  await press(page, 'r', '2');
  await page.keyboard.press('Control+f');
  equal(await page.evaluate(() => document.activeElement.id), 'search', 'search');
  await page.keyboard.type('_dl_');
  await page.keyboard.press('Enter');
  await settled(page);
  const first = await text(page, 'flame-line');
  check(first.startsWith('Match 1 of '), first);
  await page.keyboard.press('Enter');
  check((await text(page, 'flame-line')).startsWith('Match 2 of '), 'the next');
  await page.keyboard.press('Shift+Enter');
  equal((await text(page, 'flame-line')).split(' · ')[0], first.split(' · ')[0], 'and back');
  check((await boxes(page)).length > 5, 'frames');
  equal(page.problems.join(), '', 'keys');
  await page.close();
  await site.stop();
}

await browser.close();
finish();
