// `readperf export --format page`: one file that opens without a server, asks for nothing, and has the numbers of `report --json` and of the
// folded stacks; what it does not have it says.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { boxes, check, equal, finish, folded, launch, made, open, percent, readperf, shares, text, work } from './browser.mjs';
import { click, openHottest, press, report, rowsOf, sameFunction, sameRows, settled } from './served.mjs';

const fixture = name => path.join(process.env.FIXTURES, name, 'perf.data');
const [main, multi] = [fixture('main'), fixture('multi')];
const browser = await launch();

async function file(recording, words = [], options = {}) {
  const name = path.join(work, `${path.basename(path.dirname(recording))}-${path.basename(recording)}.page.html`);
  readperf('export', '--format', 'page', '-o', name, ...words, recording);
  const page = await open(browser, name, options);
  page.file = name;
  page.show = async state => { await page.goto(`file://${name}#${state}`); await settled(page); };
  await settled(page);
  return page;
}

// Functions: sorted, searched; events, threads; back, forward, reload.
{
  const page = await file(multi);
  await page.show('view=functions');
  sameRows(await rowsOf(page), report(multi), 'functions');
  for (const sort of ['total', 'name']) {
    await page.show('view=functions&sort=' + sort);
    const rows = await rowsOf(page), by = row => sort === 'name' ? row.name : -Number.parseFloat(row.cells[0]);
    check(rows.length > 5 && rows.every((row, at) => at === 0 || by(rows[at - 1]) <= by(row)), 'sorted by ' + sort);
  }
  await page.show('view=functions');
  await page.fill('#search', '_dl_');
  await settled(page);
  equal((await rowsOf(page)).map(({ name }) => name).sort().join(), report(multi).rows.map(({ symbol }) => symbol).filter(symbol => /_dl_/.test(symbol)).sort().join(), 'search');
  await page.fill('#search', '');
  await settled(page);
  await page.selectOption('#event', '1');
  await settled(page);
  const faults = 'page-faults/period=16/';
  sameRows(await rowsOf(page), report(multi, '--event', faults), 'the second event');
  const threads = await page.evaluate(() => Array.from(document.getElementById('thread').options, option => option.value).filter(Boolean));
  check(threads.length > 2, 'threads: ' + threads);
  for (const thread of threads) {
    await page.selectOption('#thread', thread);
    await settled(page);
    sameRows(await rowsOf(page), report(multi, '--event', faults, thread.startsWith('p') ? '--pid' : '--tid', thread.slice(1)), thread);
  }
  const last = await text(page, 'counted'), address = page.url();
  await page.goBack();
  await settled(page);
  check(await text(page, 'counted') !== last, 'back');
  await page.goForward();
  await settled(page);
  equal(page.url(), address, 'forward');
  equal(await text(page, 'counted'), last, 'forward');
  await page.reload();
  await settled(page);
  equal(await text(page, 'counted'), last, 'reload');
  check(await page.locator('#weight').isDisabled(), 'a file has one weight');
  equal(page.problems.join(), '', 'functions');
  await page.close();
}

// What was chosen when it was written is said, and stays.
{
  const options = ['--comm', 'tree', '--hide', '^_dl_'], page = await file(multi, options);
  equal(await page.evaluate(() => Array.from(document.querySelectorAll('#steps li'), step => step.textContent).join()), 'threads called tree,merged /^_dl_/', 'steps');
  equal(await page.locator('#steps button').count(), 0, 'that cannot be taken back');
  await page.show('view=functions');
  sameRows(await rowsOf(page), report(multi, ...options), 'chosen');
  equal(page.problems.join(), '', 'options');
  await page.close();
}

// Flame graph, tree, callers and callees agree with the folded stacks.
{
  const page = await file(multi);
  const shareOf = is => percent(share(is)), share = shares(folded(multi, '--event', 'cpu-clock'));
  const frames = await boxes(page);
  for (const box of frames.filter(({ depth }) => depth === 1)) {
    const name = box.label.replace(/: [0-9.]+ %, .*$/s, '');
    equal(box.label.match(/: ([0-9.]+ %), /)[1], shareOf(stack => stack[0] === name), name);
  }
  const deep = frames.find(box => box.depth === 3);
  await click(page, '#' + deep.id);
  check(page.url().includes('zoom='), 'zoomed: ' + page.url());
  equal((await text(page, 'flame-line')).split(' · ')[0], deep.label, 'zoomed to');
  await page.reload();
  await settled(page);
  equal((await text(page, 'flame-line')).split(' · ')[0], deep.label, 'zoomed again');
  await press(page, 'Escape');
  check(!page.url().includes('zoom='), 'all of it');
  await page.fill('#search', '_dl_');
  await settled(page);
  equal(await text(page, 'matched'), 'matched ' + shareOf(stack => stack.some(name => /_dl_/i.test(name))), 'search');
  await page.fill('#search', '');
  await settled(page);
  await press(page, 'Escape', 'i');
  const leaf = await page.evaluate(() => document.querySelector('#flame-frames rect[aria-level="2"]').getAttribute('aria-label'));
  const name = leaf.replace(/(?: \([^()]*\))?: [0-9.]+ %, .*$/s, '');
  equal(leaf.match(/: ([0-9.]+ %), /)[1], shareOf(stack => stack.at(-1) === name), 'from the leaves: ' + leaf);

  await page.show('view=tree');
  await page.locator('#view tbody tr').first().focus();
  await openHottest(page);
  const ways = await page.evaluate(() => {
    const way = [];
    return Array.from(document.querySelectorAll('#view tbody tr'), row => {
      way.length = Number(row.getAttribute('aria-level')) - 1;
      way.push(row.querySelector('.name').textContent);
      return { way: [...way], shares: Array.from(row.querySelectorAll('td.number span'), cell => cell.textContent).join() };
    });
  });
  check(ways.length > 5, 'the tree is open: ' + ways.length);
  for (const { way, shares } of ways) {
    const begins = stack => way.every((name, at) => stack[at] === name), self = shareOf(stack => stack.length === way.length && begins(stack));
    equal(shares, shareOf(begins) + ',' + (self === '0.00 %' && !shares.endsWith('%') ? '' : self), way.join(';'));
  }

  const called = '_dl_map_object_from_fd';
  await page.show('view=sandwich&function=' + called + '&binary=ld-linux-x86-64.so.2');
  const sides = await page.evaluate(() => Array.from(document.querySelectorAll('#view section'), section => Array.from(section.querySelectorAll('tbody tr'), row => [
    row.querySelector('.name').textContent, row.querySelector('td.number span').textContent])));
  const after = (stack, a, b) => stack.some((name, at) => name === a && stack[at + 1] === b);
  check(sides[0].length + sides[2].length > 0, 'calls');
  for (const [name, share] of sides[0]) equal(share, shareOf(stack => after(stack, name, called)), `${name} calls ${called}`);
  for (const [name, share] of sides[2]) equal(share, shareOf(stack => after(stack, called, name)), `${called} calls ${name}`);
  equal(page.problems.join(), '', 'flame graph, tree, callers and callees');
  await page.close();
}

// Code and the recording; what cannot be asked is not offered, or said.
{
  const page = await file(main, ['--title', 'A <b>title</b>'], { colorScheme: 'dark' });
  equal(await text(page, 'title'), 'A <b>title</b>', 'the title');
  const annotated = JSON.parse(readperf('annotate', '--json', '--top', '1', main)).functions[0];
  await page.show('view=functions');
  await page.locator('#view tbody tr').first().click();
  await press(page, 'a');
  const shown = await page.evaluate(() => Array.from(document.querySelectorAll('#view .instructions tr'), row => row.querySelector('.address').textContent + row.querySelector('code').textContent));
  equal(shown.join('\n'), annotated.parts.flatMap(part => part.instructions.map(one => one.address + one.text)).join('\n'), 'code');
  for (const part of ['info', 'stats', 'check']) {
    await page.show('view=recording&part=' + part);
    const said = await page.locator('#view pre').textContent();
    check(said.length > 20 && (part === 'check' || said === readperf(part, main)), part);
  }
  await press(page, '?');
  check(!(await text(page, 'help')).includes('Collapse recursion'), 'keys that cannot be used are not shown');
  await press(page, 'Escape');
  equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(22, 24, 28)', 'dark');
  await page.show('view=functions&focus=x');
  check((await text(page, 'trouble')).includes('cannot choose by focus'), await text(page, 'trouble'));
  await page.show('view=sandwich&function=nobody');
  check((await text(page, 'trouble')).includes('does not have this function'), await text(page, 'trouble'));
  await page.show('');
  await page.screenshot({ path: path.join(work, 'file-dark.png') });
  // The hottest functions are text, also without scripts.
  const hottest = report(main, '--no-children').rows[0].symbol;
  check(readFileSync(page.file, 'utf8').includes(`<td>${hottest}</td>`), 'the hottest function is in the document');
  // What comes into the page by another way is not run.
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hacked = 1';
    document.body.append(script);
  });
  check(page.problems.some(problem => problem.includes('Content Security Policy')), 'the policy holds');
  equal(await page.evaluate(() => window.hacked), undefined, 'no other script');
  equal(page.problems.filter(problem => !problem.includes('Content Security Policy')).join(), '', 'code and recording');
  await page.close();
}

// Filters, two recordings.
{
  const page = await file(multi, ['--comm', 'tree', '--weight', 'samples']);
  await page.show('view=functions');
  const expected = report(multi, '--comm', 'tree');
  for (const row of await rowsOf(page)) {
    const same = expected.rows.find(sameFunction(row));
    equal(row.cells[1], percent(same.samples / expected.samples), 'samples in ' + row.name);
  }
  equal(page.problems.join(), '', 'filters');
  await page.close();
  const [before, after] = [made('before'), made('after')], changed = await file(after, ['--base', before]);
  check((await text(changed, 'flame-base')).includes('2 vanished (30.00 %)'), 'what has vanished');
  await changed.show('view=functions');
  const changes = await changed.evaluate(() => Array.from(document.querySelectorAll('#view .change'), cell => cell.firstChild?.textContent ?? '').filter(Boolean).sort().join());
  equal(changes, ['+0.00', '+10.00', '+20.00', '−30.00'].sort().join(), 'changes');
  equal(changed.problems.join(), '', 'two recordings');
  await changed.close();
}

// A large one: bounded, and what is left out is said.
{
  const page = await file(made('many'));
  const bytes = statSync(page.file).size;
  check(bytes < 5 << 20, `${bytes} bytes`);
  check((await text(page, 'about-file')).includes('callers and callees of'), await text(page, 'about-file'));
  await page.show('view=tree');
  check(await page.locator('#view tbody tr').count() > 0, 'a tree');
  equal(page.problems.join(), '', 'many');
  await page.close();
}

// Names are text, however long.
for (const kind of ['hostile', 'long']) {
  const recording = made(kind), page = await file(recording, kind === 'long' ? ['--kallsyms', recording + '.kallsyms'] : []);
  for (const state of ['', 'inverted=1', 'view=tree', 'view=functions', 'view=recording']) await page.show(state);
  await page.show('view=functions');
  if (kind === 'long') check(await page.evaluate(() => Array.from(document.querySelectorAll('#view .name'), name => name.textContent.length).some(length => length > 900)), 'a long name');
  await page.locator('#view tbody tr').first().focus();
  await press(page, 'Enter');
  equal(await page.evaluate(() => document.querySelectorAll('iframe, img, script[src], b:not(#flame-tip b):not(.stack b)').length), 0, 'no markup out of names');
  equal(await page.evaluate(() => window.hacked), undefined, 'nothing of a name is run');
  equal(page.problems.join(), '', kind);
  await page.close();
}

await browser.close();
finish();
