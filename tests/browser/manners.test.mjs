// The page that `readperf view` serves, under strain: a server that is killed, two tabs, keys alone, names of 100 kB, a large screen.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { check, equal, finish, launch, made, text, work } from './browser.mjs';
import { press, report, serve, settled, visit } from './served.mjs';

const fixture = name => path.join(process.env.FIXTURES, name, 'perf.data');
const [main, multi] = [fixture('main'), fixture('multi')];
const browser = await launch();
const names = page => page.evaluate(() => Array.from(document.querySelectorAll('#view tbody .name'), name => name.textContent).join());

// A killed server: the page says so, keeps what it shows, and goes back to what it has seen.
{
  const site = await serve(multi), page = await visit(browser, site, '?view=functions');
  const functions = await names(page);
  await press(page, '4');
  const tree = await names(page), frames = () => page.locator('#flame-frames rect').count();
  await press(page, '2');
  const before = await frames();
  check(before > 5, 'frames');
  await site.kill();
  await press(page, '5');
  equal(await names(page), functions, 'what was seen is still there');
  equal(await text(page, 'trouble'), '', 'nothing is amiss yet');
  await page.fill('#search', '_dl_');
  await page.waitForFunction(() => document.getElementById('trouble').textContent.includes('does not answer'));
  equal(await names(page), functions, 'what cannot be had leaves what is there');
  await page.fill('#search', '');
  await settled(page);
  equal(await text(page, 'trouble'), '', 'back to what was seen');
  await press(page, 'Escape', '4');
  equal(await names(page), tree, 'the tree');
  await page.locator('#view tbody tr').first().focus();
  await press(page, 'ArrowRight');
  check((await text(page, 'trouble')).includes('does not answer'), 'a branch cannot be opened');
  equal(await page.locator('#view tbody tr').first().getAttribute('aria-expanded'), 'false', 'it stays closed');
  const strip = await page.locator('#strip canvas').boundingBox();
  await page.mouse.click(strip.x + 600, strip.y + 10);
  await settled(page);
  check((await text(page, 'trouble')).includes('does not answer'), 'a stack cannot be had');
  await press(page, '2');
  equal(await frames(), before, 'the flame graph');
  await page.fill('#search', 'main');
  await settled(page);
  check((await text(page, 'matched')).startsWith('matched'), 'it is searched without the server');
  equal(page.problems.filter(problem => !problem.includes('ERR_CONNECTION_REFUSED')).join(), '', 'no error is left alone');
  await page.close();
}

// Tabs that wait for a recording: however many, as far as a browser has requests for them, all tell how far it is. It comes through a pipe,
// and the end of it only when all have told that.
{
  const late = path.join(work, 'late'), bytes = readFileSync(fixture('pipe'));
  rmSync(late, { force: true });
  execFileSync('mkfifo', [late]);
  // For reading, too: to open it does not wait for a program that may have failed.
  const served = serve(late), pipe = await open(late, 'r+');
  await pipe.write(bytes.subarray(0, 4000));
  const site = await served, context = await browser.newContext();
  const tabs = [await context.newPage(), await context.newPage(), await context.newPage()];
  // Each asks for something else: what is the same a browser asks for once.
  const states = ['', '?weight=samples', '?event=1'];
  await Promise.all(tabs.map((tab, nr) => tab.goto(site.address + states[nr])));
  const told = tab => tab.waitForFunction(() => !document.getElementById('progress').hidden && document.getElementById('progress').textContent.includes('reading'));
  equal((await Promise.allSettled(tabs.map(told))).map(({ status }) => status).join(), 'fulfilled,fulfilled,fulfilled', 'three tabs wait');
  await pipe.write(bytes.subarray(4000));
  await pipe.close();
  for (const tab of tabs) {
    await tab.waitForSelector('#flame-frames rect[role]');
    await settled(tab);
    equal(await tab.locator('#progress').isHidden(), true, 'it is read');
    check(await tab.locator('#strip canvas').count() > 0 && await tab.locator('#thread option').count() > 1, 'all parts are there');
  }
  await context.close();
  await site.stop();
}

// Two tabs in turn: each has its own state, whatever the other asks.
{
  const site = await serve(multi), [one, other] = [await visit(browser, site, '?view=functions'), await visit(browser, site, '?view=functions&event=1')];
  const events = [report(multi), report(multi, '--event', 'page-faults/period=16/')];
  const shares = page => page.evaluate(() => Array.from(document.querySelectorAll('#view tbody tr'), row => row.querySelector('td.number span').textContent).sort().join());
  const expected = event => event.rows.map(row => (row.total_period / event.period * 100).toFixed(2) + ' %').sort().join();
  for (let turn = 0; turn < 3; turn++) {
    await Promise.all([one.reload(), other.reload()]);
    await Promise.all([settled(one), settled(other)]);
    equal(await shares(one), expected(events[0]), 'the first tab');
    equal(await shares(other), expected(events[1]), 'the second tab');
    await Promise.all([press(one, '2', 'i'), press(other, '4')]);
    await Promise.all([press(one, '5'), press(other, '5')]);
  }
  equal([...one.problems, ...other.problems].join(), '', 'two tabs');
  await one.close();
  await other.close();
  await site.stop();
}

// Keys alone, from the beginning of the document through every view. What has the focus is seen.
{
  const site = await serve(main), page = await visit(browser, site);
  const focus = () => page.evaluate(() => {
    const at = document.activeElement, style = getComputedStyle(at);
    return { id: at.id || at.tagName, seen: at.getBoundingClientRect().width > 0, ring: style.outlineStyle !== 'none' || at.id === 'flame-frames' || at.tagName === 'SELECT' || at.tagName === 'INPUT' };
  });
  const tabTo = async id => {
    for (let turn = 0; turn < 60; turn++) {
      await page.keyboard.press('Tab');
      const at = await focus();
      check(at.seen && at.ring || at.id === 'BODY', 'the focus is seen: ' + JSON.stringify(at));
      if (at.id === id) return;
    }
    check(false, 'no way to ' + id);
  };
  await tabTo('tab-flame');
  const seen = ['flame'];
  for (let turn = 0; turn < 5; turn++) {
    await press(page, 'ArrowRight');
    const at = (await focus()).id;
    equal(await page.locator('#' + at).getAttribute('aria-selected'), 'true', at);
    seen.push(at.replace('tab-', ''));
  }
  equal(seen.join(), 'flame,tree,functions,sandwich,code,recording', 'the views');
  equal(new URL(page.url()).searchParams.get('view'), 'recording', 'the last');
  // The flame graph: down to a frame, zoom, and out again.
  await press(page, '2');
  await tabTo('flame-frames');
  await press(page, 'ArrowDown', 'ArrowDown', 'Enter');
  check(new URL(page.url()).searchParams.get('zoom'), 'zoomed by key: ' + page.url());
  await press(page, 'Escape');
  check(!new URL(page.url()).searchParams.get('zoom'), 'all of it');
  // Functions: down, callers and callees, code, back.
  await press(page, '5');
  await page.evaluate(() => document.getElementById('tab-functions').focus());
  for (let turn = 0; turn < 8 && (await focus()).id !== 'TR'; turn++) await page.keyboard.press('Tab');
  equal((await focus()).id, 'TR', 'a row');
  await press(page, 'j', 'k', 'Enter');
  equal(new URL(page.url()).searchParams.get('view'), 'sandwich', 'callers and callees');
  await press(page, 'a');
  equal(new URL(page.url()).searchParams.get('view'), 'code', 'code');
  check(await page.locator('#view .instructions tr').count() > 0, 'instructions');
  await press(page, 'f');
  equal(await page.locator('#steps li').count(), 1, 'a step');
  await press(page, 'b');
  equal(await page.locator('#steps li').count(), 0, 'taken back');
  // Time: a range and back.
  await press(page, 's', 'Enter');
  check(new URL(page.url()).searchParams.has('from'), 'a range by key');
  await page.evaluate(() => document.activeElement.blur());
  await press(page, 'Escape');
  check(!new URL(page.url()).searchParams.has('from'), 'the range is gone');
  await press(page, '/');
  equal((await focus()).id, 'search', 'search');
  await page.keyboard.type('main');
  await page.keyboard.press('Escape');
  await settled(page);
  await press(page, '?');
  equal((await focus()).id, 'help', 'the keys');
  await press(page, 'Escape');
  equal(page.problems.join(), '', 'keys');
  await page.close();
  await site.stop();
}

// Names of 100 kB: shortened where they are shown, text everywhere.
{
  const recording = made('long'), site = await serve(recording, '--kallsyms', recording + '.kallsyms');
  const page = await visit(browser, site);
  for (const query of ['', '?inverted=1', '?view=tree', '?view=recording', '?view=functions']) {
    await page.goto(site.address + query);
    await settled(page);
  }
  const lengths = await page.evaluate(() => Array.from(document.querySelectorAll('#view .name'), name => name.textContent.length));
  check(Math.max(...lengths) > 900 && Math.max(...lengths) < 10_000, 'lengths: ' + lengths);
  for (let row = 0; row < lengths.length; row++) {
    await page.goto(site.address + '?view=functions');
    await settled(page);
    await page.locator('#view tbody tr').nth(row).click();
    for (const key of ['Enter', 'a', 'f', 'b']) await press(page, key);
  }
  equal(await page.evaluate(() => document.querySelectorAll('script:not([src]), iframe, img').length), 0, 'no markup out of names');
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is no wider than the window');
  equal(page.problems.join(), '', 'long names');
  await page.close();
  await site.stop();
}

// Small and large screens: nothing is wider than the window; what stands in the views is seen.
for (const viewport of [{ width: 1280, height: 720 }, { width: 3840, height: 2160 }]) {
  const site = await serve(multi), page = await visit(browser, site, '', { viewport });
  for (const view of ['', 'tree', 'functions', 'code&function=main', 'recording']) {
    await page.goto(site.address + '?view=' + view);
    await settled(page);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, document.getElementById('view').clientHeight / innerHeight]);
    check(wide[0] <= viewport.width && wide[1] > 0.3, `${view} at ${viewport.width}: ${wide}`);
    await page.screenshot({ path: path.join(work, `screen-${viewport.width}-${view.split('&')[0] || 'flame'}.png`) });
  }
  equal(page.problems.join(), '', 'a screen of ' + viewport.width);
  await page.close();
  await site.stop();
}

// Colours of the system's own, and none: what is chosen is seen.
{
  const site = await serve(multi), page = await visit(browser, site, '?view=functions', { forcedColors: 'active' });
  const back = what => page.locator(what).evaluate(element => getComputedStyle(element).backgroundColor);
  check(await back('#tab-functions') !== await back('#tab-tree'), 'the chosen view: ' + await back('#tab-functions'));
  check(await back('.sort.user >> nth=0') !== await back('body'), 'kinds of code');
  await page.screenshot({ path: path.join(work, 'forced-functions.png') });
  await press(page, '2', 'i');
  check(await back('button[aria-pressed=true]') !== await back('button[aria-pressed=false] >> nth=0'), 'what is pressed');
  await page.screenshot({ path: path.join(work, 'forced-flame.png') });
  equal(page.problems.join(), '', 'system colours');
  await page.close();
  await site.stop();
}

// Without colour kinds of code are told in words.
{
  const site = await serve(multi), page = await visit(browser, site, '?view=functions'), session = await page.context().newCDPSession(page);
  await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'achromatopsia' });
  const unmarked = await page.evaluate(() => Array.from(document.querySelectorAll('.fn:has(.sort:not(.user))'), fn => fn.querySelector('.mark')?.textContent ?? 'no mark: ' + fn.textContent));
  check(unmarked.includes('kernel') && !unmarked.some(mark => mark.startsWith('no mark')), 'marks: ' + unmarked);
  await page.screenshot({ path: path.join(work, 'grey-functions.png') });
  await press(page, '2');
  const legend = await page.locator('.flame-legend').textContent();
  check(/user/.test(legend) && /kernel/.test(legend), 'the legend: ' + legend);
  await page.screenshot({ path: path.join(work, 'grey-flame.png') });
  equal(page.problems.join(), '', 'grey');
  await page.close();
  await site.stop();
}

await browser.close();
finish();
