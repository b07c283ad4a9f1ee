// Time in the page: tracks of threads and other events, the map of time, the flame graph in order of time, and the lines in its hints.
import path from 'node:path';
import { boxes, check, equal, finish, launch, near, readperf } from './browser.mjs';
import { serve, settled, visit } from './served.mjs';

const browser = await launch();
const fixture = name => path.join(process.env.FIXTURES, name, 'perf.data');
const multi = fixture('multi');
const press = async (page, ...keys) => { for (const key of keys) { await page.keyboard.press(key); await settled(page); } };
const state = page => new URL(page.url()).searchParams;
const note = page => page.locator('.strip-bar .note').textContent();
const samples = (file, event) => readperf('dump', '--json', '--type', 'sample', '--event', event, file).trimEnd().split('\n').map(line => JSON.parse(line));
// What the page says is chosen, and what `report` says of the same range.
async function chosenIs(page, file, origin, what) {
  const from = Number(state(page).get('from')), to = Number(state(page).get('to'));
  const report = JSON.parse(readperf('report', '--json', '--time', `${origin + from}ns,${origin + to}ns`, file)).events[0];
  const said = await page.locator('#counted').textContent();
  check(said.startsWith(`${report.samples.toLocaleString('en-US')} samples`), `${what}: ${said}, report has ${report.samples}`);
  check(report.samples > 0, what + ': something is chosen');
}

// Keys in the strip: zoom, and a move that ends where the time does.
{
  const site = await serve(multi), page = await visit(browser, site), seen = () => (state(page).get('seen') ?? '').split('-').map(Number);
  const press = async key => {
    const before = page.url();
    await page.keyboard.press(key);
    await page.waitForFunction(before => location.href !== before, before);
    await settled(page);
  };
  await page.keyboard.press('s');
  for (const key of ['w', 'w', 'w']) await press(key);
  const [from, to] = seen();
  check(to > from && from > 0, 'w zooms: ' + page.url());
  await press('d');
  near(seen()[1] - seen()[0], to - from, 2, 'd keeps the width');
  near(seen()[0] - from, (to - from) / 5, 2, 'and moves by a fifth');
  await press('a');
  near(seen()[0], from, 3, 'a moves back');
  for (let turn = 0; turn < 40 && seen()[0] > 0; turn++) await press('a');
  near(seen()[1], to - from, 3, 'as far as there is time');
  await press('s');
  check(seen()[1] > to - from, 's zooms out: ' + page.url());
  await page.keyboard.press('?');
  check((await page.locator('#help').textContent()).includes('w s zoom, a d move'), 'they are told');
  equal(page.problems.join(), '', 'keys in the strip');
  await page.close();
  await site.stop();
}

// The range: keys move it as far as there is time, in one step of the history; a drag over names chooses nothing.
{
  const site = await serve(multi), page = await visit(browser, site), strip = page.locator('#strip .tracks canvas');
  const range = () => [Number(state(page).get('from')), Number(state(page).get('to'))], box = await strip.boundingBox();
  const drag = async (from, to) => {
    await page.mouse.move(box.x + from, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + to, box.y + 12, { steps: 3 });
    await page.mouse.up();
    await settled(page);
  };
  await drag(60, 150);
  equal(page.url(), site.address, 'names are no times');
  await drag(400, 600);
  const [from, to] = range(), steps = await page.evaluate(() => history.length);
  check(to > from && from > 0, page.url());
  await strip.focus();
  await press(page, ...Array(40).fill('ArrowLeft'));
  equal(range()[0], 0, 'to the beginning');
  near(range()[1], to - from, 2, 'as wide as before');
  await press(page, ...Array(60).fill('ArrowRight'));
  const { first_time_ns: first, last_time_ns: last } = JSON.parse(readperf('stats', '--json', multi));
  check(range()[1] <= last - first + 1, `not behind the end: ${range()}, ${last - first}`);
  near(range()[1] - range()[0], to - from, 2, 'still as wide');
  equal(await page.evaluate(() => history.length), steps, 'one step');
  // A click shows the stack of a sample that is chosen, or says that there is none.
  await press(page, 'Escape', '5');
  const [{ tid }] = samples(multi, 'cpu-clock');
  for (const x of [250, 400, 600, 800]) {
    await page.goto(`${site.address}?tid=${tid}`);
    await settled(page);
    await strip.click({ position: { x, y: 10 } });
    await settled(page);
    const told = await page.locator('.stack b').textContent();
    check(told === 'No chosen sample near.' || told.includes(` ${tid} at `), told);
  }
  equal(page.problems.join(), '', 'the range');
  await page.close();
  await site.stop();
}

// A frame that keys have led to is what keys act on, whatever was chosen before.
{
  const site = await serve(fixture('main')), page = await visit(browser, site, '?function=nobody&binary=none&search=spin');
  await press(page, '.', 'x');
  check(state(page).get('ignore')?.startsWith('^spin'), page.url());
  await press(page, 'Escape');
  equal(page.problems.join(), '', 'keys of a frame');
  await page.close();
  await site.stop();
}

// Tracks: other events below the threads, and what is said of them.
{
  const site = await serve(multi), page = await visit(browser, site), strip = page.locator('#strip .tracks canvas');
  check((await strip.getAttribute('aria-label')).endsWith('4 threads, 2 other events'), await strip.getAttribute('aria-label'));
  const faults = samples(multi, 'page-faults/period=16/');
  await strip.hover({ position: { x: 700, y: 34 + 4 * 20 + 10 } });
  check((await note(page)).includes(`${faults.length} samples in what is seen`), await note(page));
  await page.click('text=Other events: 2');
  await settled(page);
  check((await strip.getAttribute('aria-label')).endsWith('0 other events'), 'they can be left out');
  equal(state(page).get('tracks'), 'none', 'that is in the address');
  await page.goBack();
  await settled(page);
  await strip.click({ position: { x: 60, y: 34 + 4 * 20 + 10 } });
  await settled(page);
  equal(state(page).get('event'), '1', 'a click on the name of an event shows it');
  check((await page.locator('#counted').textContent()).startsWith(`${faults.length} samples`), 'its samples');
  equal(page.problems.join(), '', 'tracks');
  await page.close();
  await site.stop();
}
{
  const site = await serve(fixture('everything')), page = await visit(browser, site), strip = page.locator('#strip .tracks canvas');
  check((await note(page)).includes('3 times on or off a CPU not shown'), await note(page));
  await strip.hover({ position: { x: 300, y: 34 + 10 } });
  check(/on a CPU \d+\.\d\d %, waiting for one/.test(await note(page)), await note(page));
  equal(page.problems.join(), '', 'switches');
  await page.close();
  await site.stop();
}

// The map of time: by mouse and by keys; what is chosen is what `report` says of it.
{
  const site = await serve(multi), page = await visit(browser, site), map = page.locator('.heat canvas');
  const origin = samples(multi, 'cpu-clock').concat(samples(multi, 'page-faults/period=16/'), samples(multi, 'context-switches/period=2/')).reduce((least, one) => Math.min(least, one.time), Infinity);
  await press(page, 'h');
  check(await map.isVisible() && !await page.locator('#strip .tracks canvas').isVisible(), 'a key shows the map');
  const timeline = JSON.parse(readperf('timeline', '--json', '--event', 'cpu-clock', '--weight', 'period', '--columns', '155', multi)).events[0];
  const columns = timeline.cells.period.length;
  check((await map.getAttribute('aria-label')).startsWith(`Map of samples: ${columns} columns`), await map.getAttribute('aria-label'));
  equal(await page.locator('.hottest button').count() > 0, true, 'hottest stretches');
  const box = await map.boundingBox(), wide = (box.width - 190) / columns, at = (column, row) => [box.x + 190 + (column + 0.5) * wide, box.y + (row + 0.5) * 6];
  await page.mouse.move(...at(2, 4));
  await page.mouse.down();
  await page.mouse.move(...at(3, 10));
  await page.mouse.move(...at(4, 12));
  await page.mouse.up();
  await settled(page);
  const begin = timeline.start_ns - origin + 2 * timeline.column_ns + 4 * timeline.cell_ns;
  near(Number(state(page).get('from')), begin, 1, 'the range begins with its first cell');
  near(Number(state(page).get('to')), timeline.start_ns - origin + 4 * timeline.column_ns + 13 * timeline.cell_ns - 1, 1, 'and ends with its last');
  await chosenIs(page, multi, origin, 'dragged');
  await map.focus();
  await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Enter');
  near(Number(state(page).get('to')) - Number(state(page).get('from')) + 1, timeline.column_ns + 2 * timeline.cell_ns, 1, 'keys choose cells');
  await page.locator('.hottest button').first().click();
  await settled(page);
  await chosenIs(page, multi, origin, 'a hottest stretch');
  await page.reload();
  await settled(page);
  check(await map.isVisible(), 'a reload shows the map again');
  equal(page.problems.join(), '', 'map');
  await page.close();
  await site.stop();
}

// The flame graph in order of time: chosen in its bar and by key, zoomed, searched.
{
  // Wide enough for each of its frames to be a box of its own.
  const site = await serve(multi), page = await visit(browser, site);
  await page.setViewportSize({ width: 2540, height: 800 });
  await press(page, '1');
  equal(state(page).get('order'), 'time', 'a key');
  // Every sample counts the same here: runs of one thread name, in order of time.
  const all = samples(multi, 'cpu-clock').sort((a, b) => a.time - b.time), comm = new Map();
  for (const line of readperf('export', '-f', 'jsonl', '--event', 'cpu-clock', multi).trimEnd().split('\n').map(line => JSON.parse(line))) comm.set(line.tid, line.comm);
  const runs = [];
  for (const one of all) {
    const last = runs.at(-1);
    if (last?.name === comm.get(one.tid)) last.count++;
    else runs.push({ name: comm.get(one.tid), count: 1 });
  }
  const threads = (await boxes(page)).filter(box => box.depth === 1).sort((a, b) => a.x - b.x);
  equal(threads.map(box => box.label.split(':')[0]).join(), runs.map(run => run.name).join(), 'runs of threads');
  const wide = (await boxes(page)).find(box => box.depth === 0).width;
  threads.forEach((box, at) => near(box.width, runs[at].count / all.length * wide, 1.5, 'width of run ' + at));
  const large = threads.filter(box => box.width > 50)[0];
  await page.locator('#' + large.id).click({ position: { x: 5, y: 5 } });
  await settled(page);
  check(/^\d+-\d+$/.test(state(page).get('zoom')), 'a zoom is a time');
  const zoomed = (await boxes(page)).filter(box => box.depth === 1);
  near(zoomed[0].width, wide, 1.5, 'what was clicked is as wide as the picture');
  check((await page.locator('#flame-line').textContent()).includes(' ms to '), await page.locator('#flame-line').textContent());
  await press(page, 'Escape');
  equal(state(page).get('zoom'), null, 'all of it again');
  await page.selectOption('#view select', 'threads');
  await settled(page);
  const names = (await boxes(page)).filter(box => box.depth === 1).map(box => box.label.split(':')[0]);
  equal(names.length, new Set(all.map(one => one.tid)).size, 'each thread once');
  check(names.every(name => / \d+$/.test(name)), names.join());
  await page.fill('#search', 'main');
  await page.waitForFunction(() => document.getElementById('matched').textContent.startsWith('matched'));
  const shared = await page.locator('#matched').textContent();
  await page.selectOption('#view select', '');
  await settled(page);
  equal(await page.locator('#matched').textContent(), shared, 'what matches is the same in any order');
  equal(page.problems.join(), '', 'order of time');
  await page.close();
  await site.stop();
}

// The hint of a frame names a line of source.
{
  const site = await serve(fixture('main')), page = await visit(browser, site);
  const frame = page.locator('#flame-frames rect[role][aria-label^="spin_five"]').first();
  await frame.hover({ position: { x: 20, y: 5 } });
  await page.waitForFunction(() => document.querySelector('#flame-tip .line'));
  check(/^most of its own on work\.c:\d+ \(\d+\.\d\d %\)$/.test(await page.locator('#flame-tip .line').textContent()), await page.locator('#flame-tip .line').textContent());
  equal(page.problems.join(), '', 'hint');
  await page.close();
  await site.stop();
}

await browser.close();
finish();
