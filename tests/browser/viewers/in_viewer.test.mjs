// `readperf view --in`: speedscope's own page fetches the export from the program and shows it; a page from elsewhere does not get it.
// For Perfetto stands a page with the rule of its policy: nothing is fetched but from port 9001.
import path from 'node:path';
import { check, finish } from './checks.mjs';
import { EMPTY, fetched, launch, pages, serve } from './site.mjs';

const { WORK } = process.env;
const release = path.join(WORK, 'node_modules/speedscope/dist/release');

const browser = await launch();
{
  const own = await pages(release), other = await pages(release);
  const site = await serve('multi', '--in', 'speedscope', '--viewer-page', own.origin + '/index.html');
  check(site.address.startsWith(own.origin + '/index.html#profileURL='), site.address);
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const errors = [];
  page.on('pageerror', error => errors.push(error.message));
  await page.goto(site.address);
  await page.getByText('cpu-clock: all threads').first().waitFor().catch(() => errors.push('the profile is not shown'));
  check(errors.length === 0, errors.join('; '));
  await page.screenshot({ path: path.join(WORK, 'in-speedscope.png') });
  const file = decodeURIComponent(site.address.split('profileURL=')[1]);
  const size = await fetched(page, file);
  check(size > 1000, `the file has ${size} bytes`);
  await page.goto(other.origin + EMPTY);
  check(await fetched(page, file) === 'refused', 'a page from elsewhere gets nothing');
  await page.close();
  await site.stop();
  own.close();
  other.close();
}
{
  const own = await pages(release, { 'Content-Security-Policy': "default-src 'self'; img-src data:; connect-src 'self' http://127.0.0.1:9001" });
  const site = await serve('multi', '--in', 'perfetto', '--viewer-page', own.origin).catch(error => { console.log('**** port 9001 is taken: ' + error.message); return null; });
  if (site) {
    const page = await browser.newPage();
    await page.goto(own.origin + EMPTY);
    // Its page asks first whether its own trace processor listens there: it does not.
    const asked = await page.evaluate(() => fetch('http://127.0.0.1:9001/status', { method: 'post' }).then(answer => answer.status).catch(() => 'refused'));
    check(asked !== 200, `no trace processor: ${asked}`);
    const size = await fetched(page, site.address.split('#!/?url=')[1]);
    check(size > 1000, `the trace has ${size} bytes`);
    await page.close();
    await site.stop();
  }
  own.close();
}
await browser.close();
finish();
