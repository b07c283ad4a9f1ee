// A page that readperf serves: started, opened in the browser, closed. It fails the test if anything in it fails or asks elsewhere.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { check, equal, percent, readperf } from './browser.mjs';

export async function serve(file, ...words) {
  const child = spawn(process.env.READPERF, ['view', '--no-open', file, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  child.stderr.on('data', text => said.push(String(text)));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error(said.join(''))));
  });
  const end = signal => () => new Promise(resolve => { child.once('exit', resolve); child.kill(signal); });
  return { address, said, pid: child.pid, stop: end('SIGINT'), kill: end('SIGKILL') };
}

export async function visit(browser, site, query = '', options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
  page.problems = [];
  page.on('pageerror', error => page.problems.push('error: ' + error.message));
  page.on('console', message => ['error', 'warning'].includes(message.type()) && page.problems.push('console: ' + message.text()));
  page.on('dialog', dialog => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', request => request.url().startsWith(site.address) || page.problems.push('request: ' + request.url()));
  page.on('response', answer => answer.status() >= 400 && page.problems.push(`${answer.status()}: ${answer.url()}`));
  await page.goto(site.address + query);
  await settled(page);
  return page;
}

// Nothing is being fetched any more.
export async function settled(page) {
  await page.waitForTimeout(30);
  await page.waitForFunction(() => !document.body.classList.contains('busy') && document.querySelector('#view')?.className);
  await page.waitForTimeout(30);
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

export const click = async (page, what) => { await page.click(what); await settled(page); };

// Functions, as the page has them and as the report does.
export const report = (file, ...words) => JSON.parse(readperf('report', '--json', '--sort', 'dso,symbol', ...words, file)).events[0];
export const rowsOf = page => page.evaluate(() => Array.from(document.querySelectorAll('#view tbody tr'), row => ({
  cells: Array.from(row.querySelectorAll('td.number span'), cell => cell.textContent), name: row.querySelector('.name')?.textContent,
  binary: row.querySelector('.binary')?.textContent, inlined: row.querySelector('.mark')?.textContent === 'inlined',
})));
export const sameFunction = row => other => other.symbol === row.name + (row.inlined ? ' (inlined)' : '') && other.dso === (row.binary || '[unknown]');

// The rows of a table are those of the report, in its words.
export function sameRows(rows, event, what) {
  check(rows.length > 0 || !event.rows.length, what + ': rows');
  equal(rows.length, Math.min(1000, event.rows.length), what + ': how many');
  for (const row of rows) {
    const expected = event.rows.find(sameFunction(row));
    if (!expected) { check(false, `${what}: no ${row.name} in ${row.binary}`); continue; }
    equal(row.cells.join(), [expected.total_period, expected.self_period].map(period => percent(period / event.period)).join(), `${what}: ${row.name}`);
  }
}
