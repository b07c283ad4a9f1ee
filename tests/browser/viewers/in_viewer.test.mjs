// `readperf view --in`: speedscope's own page fetches the export from the program and shows it; a page from elsewhere does not get it.
// For Perfetto stands a page with the rule of its policy: nothing is fetched but from port 9001.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { check, finish } from './checks.mjs';

const { READPERF, FIXTURES, WORK } = process.env;
const release = path.join(WORK, 'node_modules/speedscope/dist/release');

async function pages(headers = {}) {
  const server = http.createServer((request, response) => {
    const name = path.basename(new URL(request.url, 'http://localhost').pathname) || 'empty.html';
    const file = path.join(release, name);
    const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
    response.writeHead(200, { 'Content-Type': types[path.extname(name)] || 'application/octet-stream', ...headers });
    response.end(fs.existsSync(file) ? fs.readFileSync(file) : '<!DOCTYPE html><link rel="icon" href="data:,">');
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
async function serve(...words) {
  const child = spawn(READPERF, ['view', '--no-open', ...words, path.join(FIXTURES, 'multi', 'perf.data')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error(words.join(' '))));
  });
  return { address, stop: () => new Promise(resolve => { child.once('exit', resolve); child.kill('SIGINT'); }) };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const fetched = (page, url) => page.evaluate(url => fetch(url).then(answer => answer.arrayBuffer()).then(bytes => bytes.byteLength).catch(() => 'refused'), url);
{
  const own = await pages(), other = await pages();
  const site = await serve('--in', 'speedscope', '--viewer-page', own.origin + '/index.html');
  check(site.address.startsWith(own.origin + '/index.html#profileURL='), site.address);
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const errors = [];
  page.on('pageerror', error => errors.push(error.message));
  await page.goto(site.address);
  await page.getByText('cpu-clock: all threads').first().waitFor({ timeout: 15000 }).catch(() => errors.push('the profile is not shown'));
  check(errors.length === 0, errors.join('; '));
  await page.screenshot({ path: path.join(WORK, 'in-speedscope.png') });
  const file = decodeURIComponent(site.address.split('profileURL=')[1]);
  const size = await fetched(page, file);
  check(size > 1000, `the file has ${size} bytes`);
  await page.goto(other.origin + '/empty.html');
  check(await fetched(page, file) === 'refused', 'a page from elsewhere gets nothing');
  await page.close();
  await site.stop();
  own.close();
  other.close();
}
{
  const own = await pages({ 'Content-Security-Policy': "default-src 'self'; img-src data:; connect-src 'self' http://127.0.0.1:9001" });
  const site = await serve('--in', 'perfetto', '--viewer-page', own.origin).catch(error => { console.log('**** port 9001 is taken: ' + error.message); return null; });
  if (site) {
    const page = await browser.newPage();
    await page.goto(own.origin + '/empty.html');
    const size = await fetched(page, site.address.split('#!/?url=')[1]);
    check(size > 1000, `the trace has ${size} bytes`);
    await page.close();
    await site.stop();
  }
  own.close();
}
await browser.close();
finish();
