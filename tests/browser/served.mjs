// A page that readperf serves: started, opened in the browser, closed. It fails the test if anything in it fails or asks elsewhere.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { check, countTimers, equal, percent, readperf, text } from './browser.mjs';

// Those that have not ended: a test that fails leaves none behind.
const running = new Set();
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')));

export async function serve(file, ...words) {
  const child = spawn(process.env.READPERF, ['view', '--no-open', file, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const said = [];
  child.stderr.on('data', text => said.push(String(text)));
  // The address that is opened has what the options choose.
  const opened = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error(said.join(''))));
  });
  const end = signal => () => new Promise(resolve => { child.once('exit', resolve); child.kill(signal); });
  const address = opened.split('?')[0];
  return { address, first: opened.slice(address.length), said, pid: child.pid, stop: end('SIGINT'), kill: end('SIGKILL') };
}

export async function visit(browser, site, query = '', options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
  await page.addInitScript(countTimers);
  page.problems = [];
  page.on('pageerror', error => page.problems.push('error: ' + error.message));
  page.on('console', message => ['error', 'warning'].includes(message.type()) && page.problems.push('console: ' + message.text()));
  page.on('dialog', dialog => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', request => request.url().startsWith(site.address) || page.problems.push('request: ' + request.url()));
  page.on('response', answer => answer.status() >= 400 && page.problems.push(`${answer.status()}: ${answer.url()}`));
  await page.goto(site.address + (site.first && query ? `${site.first}&${query.slice(1)}` : site.first || query));
  await settled(page);
  return page;
}

// Nothing is being fetched any more, nothing is put off, and two pictures have been drawn since: events of what was done have come by then.
export async function settled(page) {
  await page.waitForTimeout(30);
  await page.waitForFunction(() => new Promise(resolve => {
    let still = 0;
    const look = () => {
      const calm = !document.body.classList.contains('busy') && document.querySelector('#view')?.className && !globalThis.putOff?.size;
      still = calm ? still + 1 : 0;
      if (still > 2) resolve(true); else requestAnimationFrame(look);
    };
    look();
  }));
}

export const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); await settled(page); };

/** Opens the tree along the hottest path, until no more rows come: each level is asked for when the one before is there. */
export async function openHottest(page) {
  await press(page, '*');
  for (let before = -1, rows = 0; rows !== before;) {
    before = rows;
    await page.waitForTimeout(150);
    await settled(page);
    rows = await page.locator('#view tbody tr').count();
  }
}

/** Searches for a text, and leaves the field: keys are keys again. */
export async function searchFor(page, pattern) {
  await page.fill('#search', pattern);
  await page.waitForFunction(pattern => (new URL(location.href).searchParams.get('search') ?? '') === pattern, pattern);
  await page.evaluate(() => document.getElementById('search').blur());
  await settled(page);
}

export const click = async (page, what) => { await page.click(what); await settled(page); };

// Functions, as the page has them and as the report does.
export const report = (file, ...words) => JSON.parse(readperf('report', '--json', '--sort', 'dso,symbol', ...words, file)).events[0];
export const rowsOf = page => page.evaluate(() => Array.from(document.querySelectorAll('#view tbody tr'), row => ({
  cells: Array.from(row.querySelectorAll('td.number span'), cell => cell.textContent), name: row.querySelector('.name')?.textContent,
  binary: row.querySelector('.binary')?.textContent, inlined: row.querySelector('.mark')?.textContent === 'inlined',
})));
// What stands for hidden functions is of no binary here.
export const sameFunction = row => other => other.symbol === row.name + (row.inlined ? ' (inlined)' : '') && (other.dso === (row.binary || '[unknown]') || row.name === '[hidden]');

// The rows of a table are those of the report, in its words.
export function sameRows(rows, event, what) {
  check(rows.length > 0 || !event.rows.length, what + ': rows');
  equal(rows.length, Math.min(1000, event.rows.length), what + ': how many');
  sameNumbers(rows, event.rows, row => row.cells.join(), other => [other.total_period, other.self_period].map(period => percent(period / event.period)).join(), what);
}

// Each row shows the numbers of one of the report that is called so, and no two of them those of the same one: a binary may have several
// functions of one name.
export function sameNumbers(rows, reported, shown, numbers, what) {
  const left = [...reported];
  for (const row of rows) {
    const isIt = sameFunction(row), at = left.findIndex(other => isIt(other) && numbers(other) === shown(row));
    check(at >= 0, `${what}: ${row.name} in ${row.binary}: ${shown(row)}, expected ${left.filter(isIt).map(numbers).join(' or ') || 'no such row'}`);
    if (at >= 0) left.splice(at, 1);
  }
}

/** How many samples the page says are chosen. */
export const counted = async page => Number((await text(page, 'counted')).split(' ')[0].replace(/,/g, ''));

/** Drags from one place of an element to another. */
export async function drag(page, element, [fromX, fromY], [toX, toY]) {
  const box = await element.boundingBox();
  await page.mouse.move(box.x + fromX, box.y + fromY);
  await page.mouse.down();
  await page.mouse.move(box.x + (fromX + toX) / 2, box.y + (fromY + toY) / 2);
  await page.mouse.move(box.x + toX, box.y + toY);
  await page.mouse.up();
  await settled(page);
}

/** The names on the way to the row of the tree that has the focus. */
export const wayOfFocus = page => page.evaluate(() => {
  const way = [];
  for (const row of document.querySelectorAll('#view tbody tr:has(.name)')) {
    way.length = Number(row.getAttribute('aria-level')) - 1;
    way.push(row.querySelector('.name').textContent);
    if (row === document.activeElement) return way;
  }
  return [];
});

// Functions that are compared with another recording, as the page has them and as `diff` does.
export const points = by => (by >= 0 ? '+' : '−') + Math.abs(by * 100).toFixed(2);
export const changesOf = page => page.evaluate(() => Array.from(document.querySelectorAll('#view tbody tr'), row => ({
  name: row.querySelector('.name').textContent, binary: row.querySelector('.binary').textContent, change: row.querySelector('.change')?.firstChild?.textContent ?? '',
  self: row.querySelectorAll('td.number span')[1]?.textContent, hint: row.querySelector('.change')?.title ?? '', mark: row.querySelector('.change .mark, .sort.gone ~ .mark')?.textContent ?? '' })));

/** Every row of `diff` is there once, with its change and its chance. */
export async function sameChanges(page, files, words, what, named) {
  const rows = await changesOf(page), event = JSON.parse(readperf('diff', '--json', '--by', 'dso,function', ...words, ...files)).events
    .find(({ name }) => !named || name === named);
  check(event.rows.length > 0, what + ': rows');
  // The page has no more than the first thousand.
  for (const row of rows.length < 1000 ? event.rows : event.rows.slice(0, 300)) {
    const shown = rows.filter(({ name, binary }) => binary === row.dso && name === row.symbol);
    // Functions of one name are one row of `diff`, and several here.
    check(shown.length === 1 || shown.length > 1 && !row.symbol.startsWith('['), `${what}: ${shown.length} rows of ${row.symbol} in ${row.dso}`);
    if (!shown.length) continue;
    const [{ change, hint, mark, self }] = shown;
    equal(change, points((row.new - row.base) / 100), `${what}: ${row.symbol}`);
    if (shown.length === 1) equal(self, percent(row.new / 100), `${what}: self of ${row.symbol}`);
    equal(mark, row.presence === 'both' ? '' : row.presence, `${what}: ${row.symbol} is`);
    check(hint.startsWith(`Self: ${percent(row.base / 100)} → ${percent(row.new / 100)}`), `${what}: ${hint}`);
    check(row.p_at_least === null || hint.includes('at least ' + row.p_at_least.toFixed(3)), `${what}: ${hint}, ${row.p_at_least}`);
  }
}
