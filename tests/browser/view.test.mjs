// `readperf view` in a browser: every view has the numbers of `report --json` under the same filters; the state is in the address; nobody
// else is answered; names are only ever text.
import http from 'node:http';
import path from 'node:path';
import { boxes, check, equal, finish, folded, launch, made, percent, readperf, shares, text } from './browser.mjs';
import { click, drag, openHottest, press, report, rowsOf, sameRows, serve, settled, visit } from './served.mjs';

const main = path.join(process.env.FIXTURES, 'main', 'perf.data');
const multi = path.join(process.env.FIXTURES, 'multi', 'perf.data');
const many = made('many');
const browser = await launch();

// Functions, with and without filters; the state in the address, back and forward, reload.
{
  const site = await serve(main), page = await visit(browser, site, '?view=functions');
  sameRows(await rowsOf(page), report(main), 'functions');
  const all = await text(page, 'counted');
  const first = (await rowsOf(page))[0];
  await page.click('#view tbody tr:first-child');
  await settled(page);
  await press(page, 'f');
  const focused = page.url();
  const pattern = '^' + first.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
  sameRows(await rowsOf(page), report(main, '--focus', pattern), 'focus');
  equal(await page.locator('#steps li').count(), 1, 'one step');
  await page.goBack();
  await settled(page);
  equal(await text(page, 'counted'), all, 'back');
  await page.goForward();
  await settled(page);
  equal(page.url(), focused, 'forward');
  await page.reload();
  await settled(page);
  sameRows(await rowsOf(page), report(main, '--focus', pattern), 'reload');
  await click(page, '#steps button');
  equal(await text(page, 'counted'), all, 'a step taken back');

  // A range of time that is dragged is what counts.
  await drag(page, page.locator('#strip canvas'), [400, 10], [700, 12]);
  const query = new URL(page.url()).searchParams, summary = JSON.parse(readperf('dump', '--json', '--type', 'SAMPLE', main).trim().split('\n')[0] ?? '{}');
  check(query.has('from') && query.has('to'), 'a range: ' + page.url());
  const origin = BigInt(summary.time), at = key => origin + BigInt(query.get(key));
  sameRows(await rowsOf(page), report(main, '--time', `${at('from')}ns,${at('to')}ns`), 'a range of time');
  equal(page.problems.join(), '', 'functions');
  await page.close();
  await site.stop();
}

// The flame graph, the tree and the sandwich agree with the folded stacks.
{
  const site = await serve(multi), page = await visit(browser, site);
  const shareOf = is => percent(share(is)), share = shares(folded(multi, '--event', 'cpu-clock'));
  const frames = await boxes(page);
  check(frames.length > 5, 'frames');
  const rooted = frames.filter(box => box.depth === 1);
  for (const box of rooted) {
    const name = box.label.replace(/: [0-9.]+ %, .*$/s, '');
    equal(box.label.match(/: ([0-9.]+ %), /)[1], shareOf(stack => stack[0] === name), name);
  }
  // Zoom, and back.
  const deep = frames.filter(box => box.depth === 3)[0];
  await page.click('#' + deep.id);
  await settled(page);
  check(new URL(page.url()).searchParams.get('zoom'), 'zoomed: ' + page.url());
  const zoomed = await text(page, 'flame-line');
  equal(zoomed.split(' · ')[0], deep.label, 'zoomed to');
  await page.reload();
  await settled(page);
  equal(await text(page, 'flame-line'), zoomed, 'zoomed again');
  await press(page, 'Escape');
  check(!new URL(page.url()).searchParams.get('zoom'), 'all of it');
  // Search.
  await page.fill('#search', '_dl_');
  await settled(page);
  equal(await text(page, 'matched'), 'matched ' + shareOf(stack => stack.some(name => /_dl_/i.test(name))), 'search');
  await page.fill('#search', '');
  await settled(page);

  // The tree by keys alone: every row has the share of its way.
  await page.locator('#tab-tree').focus();
  await press(page, 'Enter');
  await page.locator('#view tbody tr').first().focus();
  await openHottest(page);
  const ways = await page.evaluate(() => {
    const way = [];
    return Array.from(document.querySelectorAll('#view tbody tr'), row => {
      const depth = Number(row.getAttribute('aria-level')) - 1;
      way.length = depth;
      way.push(row.querySelector('.name').textContent);
      return { way: [...way], share: row.querySelector('td.number span').textContent };
    });
  });
  check(ways.length > 5, 'the tree is open: ' + ways.length);
  for (const { way, share } of ways) equal(share, shareOf(stack => way.every((name, at) => stack[at] === name)), way.join(';'));

  // Who calls a function, and what it calls, by the folded stacks.
  const called = '_dl_map_object_from_fd';
  await page.goto(site.address + '?view=sandwich&function=' + encodeURIComponent(called));
  await settled(page);
  const sides = await page.evaluate(() => Array.from(document.querySelectorAll('#view section'), section => Array.from(section.querySelectorAll('tbody tr'), row => [
    row.querySelector('.name').textContent, row.querySelector('td.number span').textContent])));
  const after = (stack, a, b) => stack.some((name, at) => name === a && stack[at + 1] === b);
  for (const [name, share] of sides[0]) equal(share, shareOf(stack => after(stack, name, called)), `${name} calls ${called}`);
  for (const [name, share] of sides[2]) equal(share, shareOf(stack => after(stack, called, name)), `${called} calls ${name}`);
  check(sides[0].length + sides[2].length > 0, 'calls');
  equal(page.problems.join(), '', 'flame graph, tree, sandwich');
  await page.close();
  await site.stop();
}

// Code, recording, keys, dark.
{
  const site = await serve(main), page = await visit(browser, site, '?view=functions', { colorScheme: 'dark' });
  const annotated = JSON.parse(readperf('annotate', '--json', '--top', '1', main)).functions[0];
  await page.goto(site.address + '?view=code&function=' + encodeURIComponent(annotated.symbol));
  await settled(page);
  const shown = await page.evaluate(() => Array.from(document.querySelectorAll('#view .instructions tr'), row => ({
    address: row.querySelector('.address').textContent, text: row.querySelector('code').textContent, share: row.querySelector('.number span')?.textContent ?? '' })));
  const expected = annotated.parts.flatMap(part => part.instructions), self = annotated.events[0].self_period;
  equal(shown.length, expected.length, 'instructions');
  expected.forEach((one, at) => {
    const period = one.events?.[0]?.self_period ?? 0;
    equal(JSON.stringify(shown[at]), JSON.stringify({ address: one.address, text: one.text, share: period ? percent(period / self) : '' }), one.address);
  });
  // The source beside them: each line with its text and its share, file by file.
  const order = new Map(annotated.files.map(({ file }, at) => [file, at])), place = line => order.get(line.file) ?? annotated.files.length;
  const lines = [...annotated.lines].sort((a, b) => place(a) - place(b) || (a.line ?? 0) - (b.line ?? 0)).map(line => {
    const period = line.events?.[0]?.self_period ?? 0;
    return [period ? percent(period / self) : '', line.line ? String(line.line) : '?', line.text ?? (line.file ? '' : '(line not known)'), line.inlined ? 'inlined: ' + line.inlined : ''];
  });
  const source = await page.evaluate(() => Array.from(document.querySelectorAll('#view .source tr:has(td)'), row => Array.from(row.cells, cell => (cell.querySelector('span') ?? cell).textContent)));
  check(lines.length > 3 && lines.filter(([share]) => share).length > 1, `${lines.length} lines`);
  equal(source.length, lines.length, 'lines');
  lines.forEach((line, at) => equal(source[at]?.join('|'), line.join('|'), 'line ' + line[1]));
  for (const part of ['info', 'stats', 'check']) {
    await page.goto(site.address + '?view=recording&part=' + part);
    await settled(page);
    const said = await page.locator('#view pre').textContent();
    check(said.length > 20 && (part === 'check' || said === readperf(part, main)), part);
  }
  await press(page, '?');
  check(await page.locator('#help').isVisible(), 'the keys');
  await press(page, 'Escape');
  check(!await page.locator('#help').isVisible(), 'the keys are gone');
  await press(page, '5');
  equal(new URL(page.url()).searchParams.get('view'), 'functions', 'a key leads to a view');
  equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(22, 24, 28)', 'dark');
  equal(page.problems.join(), '', 'code and recording');
  await page.close();
  await site.stop();
}

// Events, threads, and options of the command line as a start.
{
  const comm = 'tree';
  const site = await serve(multi, '--comm', comm), page = await visit(browser, site, '?view=functions');
  sameRows(await rowsOf(page), report(multi, '--comm', comm), 'an option');
  await page.selectOption('#event', '1');
  await settled(page);
  sameRows(await rowsOf(page), report(multi, '--comm', comm, '--event', 'page-faults/period=16/'), 'the second event');
  await page.selectOption('#event', '0');
  await settled(page);
  const thread = await page.evaluate(() => Array.from(document.getElementById('thread').options).find(option => option.textContent.includes('tree')).value);
  await page.selectOption('#thread', thread);
  await settled(page);
  sameRows(await rowsOf(page), report(multi, '--comm', comm, thread.startsWith('p') ? '--pid' : '--tid', thread.slice(1)), 'threads');
  await page.selectOption('#thread', '');
  await settled(page);
  await page.selectOption('#weight', 'samples');
  await settled(page);
  const samples = report(multi, '--comm', comm);
  for (const row of await rowsOf(page)) {
    const expected = samples.rows.find(other => other.symbol === row.name + (row.inlined ? ' (inlined)' : '') && other.dso === (row.binary || '[unknown]'));
    equal(row.cells[1], percent(expected.samples / samples.samples), 'samples in ' + row.name);
  }
  equal(page.problems.join(), '', 'events');
  await page.close();
  await site.stop();
}

// A large one: only what can be seen is sent, and drawn soon.
{
  const site = await serve(many), page = await visit(browser, site);
  const frames = await page.evaluate(() => document.querySelectorAll('#flame-frames rect').length);
  check(frames < 5000, `${frames} frames`);
  equal(page.problems.join(), '', 'many');
  await page.close();
  await site.stop();
}

// Names are text.
{
  const site = await serve(made('hostile')), page = await visit(browser, site);
  for (const view of ['', 'tree', 'functions', 'recording']) {
    await page.goto(site.address + '?view=' + view);
    await settled(page);
  }
  equal(await page.evaluate(() => document.querySelectorAll('script:not([src]), iframe, img').length), 0, 'no markup out of names');
  equal(page.problems.join(), '', 'hostile names');
  await page.close();
  await site.stop();
}

// Nobody else is answered; what is wrong is said.
{
  const site = await serve(main), { port, pathname } = new URL(site.address);
  const ask = (path, headers = {}, method = 'GET') => new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, method, headers: { host: '127.0.0.1:' + port, ...headers } }, answer => {
      let body = '';
      answer.on('data', piece => { body += piece; });
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
    request.on('error', reject);
    request.end();
  });
  const good = await ask(pathname);
  equal(good.status, 200, 'the page');
  check(good.headers['content-security-policy'].includes("default-src 'none'") && !good.headers['content-security-policy'].includes('unsafe'), 'policy');
  const hottest = report(main, '--no-children').rows[0].symbol;
  check(good.body.includes(`<td>${hottest}</td>`), 'the hottest function is in the document');
  equal((await ask('/')).status, 404, 'no token');
  equal((await ask('/' + '0'.repeat(32) + '/')).status, 404, 'a wrong token');
  equal((await ask(pathname + 'data/functions', { host: 'example.com' })).status, 403, 'a foreign host');
  equal((await ask(pathname + 'data/functions', { host: 'localhost:1234' })).status, 200, 'a forwarded port');
  equal((await ask(pathname + 'data/functions', { origin: 'http://example.com' })).status, 403, 'a foreign page');
  equal((await ask(pathname + 'data/functions', {}, 'POST')).status, 405, 'only GET');
  equal((await ask(pathname + 'page/../../etc/passwd')).status, 404, 'no other files');
  const wrong = await ask(pathname + 'data/functions?focus=(');
  check(wrong.status === 400 && wrong.body.startsWith('focus=('), wrong.body);
  await site.stop();
  const gone = await serve(main), page = await visit(browser, gone);
  await gone.stop();
  await page.click('#tab-functions');
  await page.waitForFunction(() => document.getElementById('trouble').textContent !== '');
  check((await text(page, 'trouble')).includes('does not answer'), 'the program has ended');
  await page.close();
}

// Two pages look at different things.
{
  const site = await serve(main), [one, other] = [await visit(browser, site, '?view=functions'), await visit(browser, site, '?view=functions')];
  await one.click('#view tbody tr:first-child');
  await press(one, 'x');
  await other.reload();
  await settled(other);
  sameRows(await rowsOf(other), report(main), 'the other page');
  await site.stop();
}

await browser.close();
finish();
