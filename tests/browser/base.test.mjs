// `readperf view --base`: functions as `diff --json` compares them, calls by the folded stacks of both recordings, the flame graph with
// the numbers of the exported one. Filters hold for both recordings.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { check, equal, finish, functions, launch, made, near, percent, readperf, shares, text, work } from './browser.mjs';
import { changesOf, points, sameChanges, serve, settled, visit } from './served.mjs';

const [before, after] = [made('before'), made('after')];
const browser = await launch();
const show = async (page, site, query) => { await page.goto(site.address + query); await settled(page); };
function sharesOfWays(file, ...words) {
  const share = shares(functions(file, ...words));
  return way => share(stack => way.every((name, at) => stack[at] === name));
}

{
  const site = await serve(after, '--base', before), page = await visit(browser, site, '?view=functions&sort=change');
  await sameChanges(page, [before, after], [], 'functions');
  const sorted = (await changesOf(page)).map(({ change }) => Math.abs(Number(change.replace('−', '-'))));
  check(sorted.every((one, at) => at === 0 || one <= sorted[at - 1]), 'sorted by change: ' + sorted);
  check((await text(page, 'counted')).includes('base: 100 samples'), await text(page, 'counted'));
  await page.screenshot({ path: path.join(work, 'base-functions.png') });
  for (const [query, words] of [['&dso=grows', ['--dso', 'grows']], ['&weight=samples', ['--normalize', 'samples']]]) {
    await show(page, site, '?view=functions' + query);
    await sameChanges(page, [before, after], words, query);
  }

  // Times and threads mean nothing in the other recording, which is said.
  await show(page, site, '?view=functions&tid=10');
  await sameChanges(page, [before, after], [], 'a thread');
  check((await text(page, 'counted')).includes('are not chosen there'), await text(page, 'counted'));

  // The tree: the share of every way, now and before.
  for (const words of [[], ['--dso', 'grows']]) {
    await show(page, site, '?view=tree' + (words.length ? '&dso=' + words[1] : ''));
    await page.keyboard.press('Tab');
    await page.locator('#view tbody tr').first().focus();
    for (let at = 0; at < await page.locator('#view tbody tr').count(); at++) {
      await page.locator('#view tbody tr').nth(at).focus();
      if (await page.locator('#view tbody tr').nth(at).getAttribute('aria-expanded') === 'false') await page.keyboard.press('ArrowRight');
      await settled(page);
    }
    const [was, is] = [sharesOfWays(before, ...words), sharesOfWays(after, ...words)], way = [];
    const rows = await page.evaluate(() => Array.from(document.querySelectorAll('#view tbody tr'), row => ({
      depth: Number(row.getAttribute('aria-level')) - 1, name: row.querySelector('.name').textContent, change: row.querySelector('.change').textContent,
      total: row.querySelector('td.number span').textContent })));
    check(rows.length >= (words.length ? 2 : 6), `rows of the tree: ${rows.length}`);
    for (const { depth, name, change, total } of rows) {
      way.length = depth;
      way.push(name);
      equal(`${total} ${change}`, `${percent(is(way))} ${points(is(way) - was(way))}`, way.join(';'));
    }
  }

  // Who calls each function, and what it calls, now and before.
  const [was, is] = [shares(functions(before)), shares(functions(after))];
  let calls = 0;
  const names = new Set([before, after].flatMap(file => functions(file)).flatMap(({ stack }) => stack));
  equal(names.size, 6, 'functions of both recordings');
  for (const called of names) {
    await show(page, site, '?view=sandwich&function=' + encodeURIComponent(called));
    const [callers, , callees] = await page.evaluate(() => Array.from(document.querySelectorAll('#view section'), section => Array.from(section.querySelectorAll('tbody tr'), row => [
      row.querySelector('.name').textContent, row.querySelector('td.number span').textContent, row.querySelector('.change').textContent])));
    const sides = { callers: [callers, (stack, other, at) => stack[at - 1] === other], callees: [callees, (stack, other, at) => stack[at + 1] === other] };
    for (const [side, [rows, follows]] of Object.entries(sides)) {
      for (const [other, share, change] of rows) {
        const has = stack => stack.some((name, at) => name === called && follows(stack, other, at));
        equal(`${share} ${change}`, `${percent(is(has))} ${points(is(has) - was(has))}`, `${side} of ${called}: ${other}`);
        calls++;
      }
    }
    const has = stack => stack.includes(called), middle = await page.locator('.sandwich .middle .base').textContent();
    check(middle.startsWith(`base: total ${percent(was(has))}, `) && middle.endsWith(` ${points(is(has) - was(has))} points`), `${called}: ${middle}`);
  }
  equal(calls, 10, 'calls of both recordings');
  await show(page, site, '?view=sandwich&function=' + encodeURIComponent('[main]'));
  await page.screenshot({ path: path.join(work, 'base-calls.png') });

  // The flame graph has the frames and numbers of the exported one.
  for (const inverted of [false, true]) {
    const file = path.join(work, 'change.svg');
    readperf('export', after, '--base', before, '--min-share', '0', ...(inverted ? ['--reverse'] : []), '-o', file);
    const exported = JSON.parse(readFileSync(file, 'utf8').match(/<script[^>]*id="flame-data"[^>]*>(?:<!\[CDATA\[)?([\s\S]*?)(?:\]\]>)?<\/script>/)[1]);
    const query = inverted ? '?inverted=1' : '';
    await show(page, site, query);
    const got = await page.evaluate(query => fetch('data/flame' + query).then(answer => answer.json()), query);
    const ways = data => {
      const way = [];
      return data.depth.map((depth, at) => {
        way.length = depth;
        way.push(data.names[data.name[at]]);
        return `${way.slice(1).join(';')} ${[data.newWeight, data.baseWeight, data.newOwn, data.baseOwn, data.newOther, data.baseOther].map(column => column[at])}`;
      }).sort().join('\n');
    };
    equal(ways(got), ways(exported), 'frames' + query);
    const label = await page.evaluate(() => Array.from(document.querySelectorAll('#flame-frames rect[role]'), box => [box.getAttribute('aria-label'), box.getAttribute('class')]));
    const fresh = label.find(([text]) => text.startsWith('[fresh]'));
    check(fresh?.[0].includes('+10.00 points') && /^d\d/.test(fresh[1]), 'sign and number without colour: ' + fresh);
    check((await page.locator('.flame-legend').textContent()).includes('less'), 'a legend');
  }
  await show(page, site, '');
  await page.screenshot({ path: path.join(work, 'base-flame.png') });
  check((await text(page, 'flame-base')).includes('2 vanished (30.00 %)'), await text(page, 'flame-base'));
  await page.click('#flame-base');
  await settled(page);
  const gone = page.locator('#flame-frames rect.gone').first();
  check((await gone.getAttribute('aria-label')).includes('30.00 %, vanished'), 'what has vanished');
  near((await gone.boundingBox()).width / (await page.locator('#flame-frames rect').first().boundingBox()).width, 0.3, 0.01, 'widths of the base');
  await gone.click();
  await settled(page);
  check(new URL(page.url()).searchParams.get('zoom'), 'zoomed to what has vanished');
  await page.click('#flame-base');
  await settled(page);
  equal(new URL(page.url()).searchParams.get('zoom'), null, 'in the new one there is nothing to zoom to');
  equal(page.problems.join(), '', 'base');
  await page.close();
  await site.stop();
}

// Another event, and one that only the new recording has; options of the command line hold for both.
{
  const fixture = name => path.join(process.env.FIXTURES, name, 'perf.data');
  const half = path.join(work, 'half.data');
  readperf('edit', fixture('multi'), '-o', half, '--time', '0%-50%');
  const options = ['--hide', '^start_thread$'], site = await serve(fixture('multi'), '--base', half, ...options), page = await visit(browser, site, '?view=functions', { colorScheme: 'dark' });
  await sameChanges(page, [half, fixture('multi')], options, 'options', 'cpu-clock');
  await page.selectOption('#event', '1');
  await settled(page);
  await sameChanges(page, [half, fixture('multi')], options, 'the second event', 'page-faults/period=16/');
  await show(page, site, '?view=functions&event=1&focus=_dl_');
  await sameChanges(page, [half, fixture('multi')], [...options, '--focus', '_dl_'], 'a step', 'page-faults/period=16/');
  equal(page.problems.join(), '', 'half a recording');
  await page.close();
  await site.stop();
  const other = await serve(fixture('multi'), '--base', fixture('main')), alone = await visit(browser, other, '?view=functions&event=1');
  check((await text(alone, 'counted')).includes('base: 0 samples'), await text(alone, 'counted'));
  check((await changesOf(alone)).length > 0, 'rows');
  await show(alone, other, '?event=1');
  check(await alone.locator('#flame-frames rect').count() > 5, 'frames');
  await show(alone, other, '');
  const { counted, hint } = await alone.evaluate(() => ({ counted: document.getElementById('counted').textContent, hint: document.getElementById('counted').title }));
  check(counted.includes('base: 574 samples') && hint.includes('event cpu-clock:u is compared with cpu-clock'), counted + hint);
  equal(alone.problems.join(), '', 'an event that the base does not have, and one that it has with other modifiers');
  await other.stop();
}

await browser.close();
finish();
