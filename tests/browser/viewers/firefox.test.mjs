// `readperf view --in firefox`: the front end of Firefox Profiler fetches the export from the program and shows it; what it says of
// functions is what the report says. FIREFOX_PROFILER is the folder that its build makes (`yarn build-prod` makes `dist`); where there is none, it is
// skipped.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { check, finish } from './checks.mjs';
import { EMPTY, fetched, launch, pages, serve } from './site.mjs';

const { READPERF, FIXTURES, FIREFOX_PROFILER, WORK } = process.env;
if (!FIREFOX_PROFILER || !fs.existsSync(path.join(FIREFOX_PROFILER, 'index.html'))) {
  console.log('**** FIREFOX_PROFILER names no built front end of Firefox Profiler: `view --in firefox` is not tried on it ****');
  finish({ checked: false });
}

// The headers that the site sends, of which the policy is what matters.
const policy = fs.readFileSync(path.join(FIREFOX_PROFILER, '_headers'), 'utf8').match(/^\s*(Content-Security-Policy): (.*)$/m);
check(policy, 'the site has a policy');
const own = await pages(FIREFOX_PROFILER, { [policy[1]]: policy[2] }), other = await pages(FIREFOX_PROFILER);
const browser = await launch();

/** What the tree shows: of each row its function, and its time in ms with what it calls. */
const rowsOf = async page => {
  const [times, names] = await Promise.all(['.treeViewRowFixedColumns', '.treeViewRowScrolledColumns'].map(rows => page.locator(rows).evaluateAll(list => list.map(row => row.innerText.split('\n').map(text => text.trim()).filter(Boolean)))));
  return names.map((name, at) => ({ name: name[0], ms: Number(times[at][1].replace(/,/g, '')) }));
};
const reported = (...words) => JSON.parse(execFileSync(READPERF, ['report', '--json', '--no-children', '--sort', 'inlined', ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).events[0];

for (const kind of ['main', 'multi']) {
  const file = path.join(FIXTURES, kind, 'perf.data');
  const site = await serve(kind, '--in', 'firefox', '--viewer-page', own.origin + '/');
  check(site.address.startsWith(own.origin + '/from-url/'), site.address);
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const errors = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('console', message => message.type() === 'error' && errors.push(message.text()));
  await page.goto(site.address);
  await page.locator('.treeViewRow').first().waitFor({ timeout: 30000 }).catch(() => errors.push('the profile is not shown'));
  await page.getByText('Invert call stack').click();
  await page.waitForTimeout(500);
  // The tree is of one thread. Turned around, its first rows are what each function takes itself.
  const thread = await page.evaluate(() => ({ tid: window.filteredThread.tid, name: window.filteredThread.name }));
  const event = reported('--tid', String(thread.tid), file), rows = await rowsOf(page);
  const own_time = event.rows.filter(row => row.self_period > 0);
  check(own_time.length > 0 && rows.length > 0, `${kind}: ${thread.name} has rows`);
  const named = rows.filter(row => own_time.some(one => one.inlined.replace(' (inlined)', '') === row.name));
  check(kind !== 'main' || named.length > 6, `${kind}: ${named.length} functions have their names`);
  for (const row of named) {
    const expected = own_time.find(one => one.inlined.replace(' (inlined)', '') === row.name).self_period / 1e6;
    check(Math.abs(expected - row.ms) <= Math.max(0.05, expected / 100), `${kind}: ${row.name} takes ${row.ms} ms, not ${expected}`);
  }
  const sum = rows.reduce((sum, row) => sum + row.ms, 0);
  check(Math.abs(sum - event.period / 1e6) <= 0.6, `${kind}: rows add up to ${sum} ms of ${event.period / 1e6}`);
  check(errors.length === 0, `${kind}: ${errors.join('; ')}`);
  await page.screenshot({ path: path.join(WORK, `in-firefox-${kind}.png`) });
  const served = decodeURIComponent(site.address.split('/from-url/')[1]);
  const size = await fetched(page, served);
  check(size > 1000, `${kind}: the file has ${size} bytes`);
  await page.goto(other.origin + EMPTY);
  check(await fetched(page, served) === 'refused', `${kind}: a page from elsewhere gets nothing`);
  await page.close();
  await site.stop();
}
await browser.close();
own.close();
other.close();
finish();
