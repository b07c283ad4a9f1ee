// speedscope's own published code reads the exports: its schema takes them, and its page shows their profiles and totals. It
// reads Chrome's trace events, too.
import Ajv from 'ajv';
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { check, finish } from './checks.mjs';

const { READPERF, FIXTURES, WORK } = process.env;
const release = path.join(WORK, 'node_modules/speedscope/dist/release');

function exported(kind, ...more) {
  const file = path.join(WORK, kind + '.speedscope.json');
  execFileSync(READPERF, ['export', '-o', file, ...more, path.join(FIXTURES, kind, 'perf.data')], { stdio: 'pipe' });
  return file;
}

// The published schema. Its root is one of its definitions.
const schema = JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'), 'utf8'));
const valid = new Ajv({ strict: false }).compile({ ...schema, $ref: '#/definitions/FileFormat.File' });
const kinds = ['main', 'multi', 'group', 'everything', 'threads'];
for (const kind of kinds) {
  const file = JSON.parse(fs.readFileSync(exported(kind), 'utf8'));
  check(valid(file), `${kind}: ${JSON.stringify(valid.errors)}`);
  check(file.profiles.length > 1, `${kind} has profiles`);
}
check(!valid({ ...JSON.parse(fs.readFileSync(path.join(WORK, 'main.speedscope.json'), 'utf8')), shared: {} }),
  'the schema refuses a file without frames');

// The page and the exports from one place, so that the page may load them.
const server = http.createServer((request, response) => {
  const name = path.basename(new URL(request.url, 'http://localhost').pathname) || 'index.html';
  const file = [path.join(release, name), path.join(WORK, name)].find(file => fs.existsSync(file));
  if (!file) return response.writeHead(404).end();
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
  response.writeHead(200, { 'Content-Type': types[path.extname(file)] || 'application/octet-stream' });
  response.end(fs.readFileSync(file));
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
for (const [kind, event] of [['main', 'cpu-clock:u'], ['multi', 'cpu-clock']]) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const errors = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('dialog', dialog => { errors.push('dialog: ' + dialog.message()); dialog.dismiss(); });
  const file = JSON.parse(fs.readFileSync(path.join(WORK, kind + '.speedscope.json'), 'utf8'));
  const url = `${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/${kind}.speedscope.json`)}&view=sandwich`;
  await page.goto(url);
  const shown = async text => {
    try {
      await page.getByText(text, { exact: false }).first().waitFor();
      return true;
    } catch {
      return false;
    }
  };
  check(await shown(`${event}: all threads`), `${kind}: the name of the profile is shown`);
  check((await page.title()).includes(file.name), `${kind}: the title is ${await page.title()}`);
  check(await page.evaluate(() => document.body.innerText.includes('Self')), `${kind}: the table of functions is shown`);
  // The function with most of its own is shown with what the file has of it.
  const own = new Map();
  const all = file.profiles[0];
  all.samples.forEach((stack, nr) => {
    const name = file.shared.frames[stack.at(-1)].name;
    own.set(name, (own.get(name) || 0) + all.weights[nr]);
  });
  const [name, weight] = [...own].sort((a, b) => b[1] - a[1])[0];
  const milliseconds = ns => (ns / 1e6).toFixed(2) + 'ms';
  check(await shown(name) && await shown(milliseconds(weight)), `${kind}: ${milliseconds(weight)} of ${name} is shown`);
  // The list has every profile.
  await page.getByText(`${event}: all threads`).first().click();
  for (const profile of file.profiles) check(await shown(profile.name), `${kind}: ${profile.name} is in the list`);
  check(await shown(milliseconds(all.endValue)), `${kind}: the total is ${milliseconds(all.endValue)}`);
  await page.screenshot({ path: path.join(WORK, `${kind}.png`) });
  check(errors.length === 0, `${kind}: ${errors.join('; ')}`);
  await page.close();
}

// Chrome's trace events, in the same page: it ends slices by their names, and complains of those that have no end.
execFileSync(READPERF, ['export', '-o', path.join(WORK, 'main.trace.json'), path.join(FIXTURES, 'main', 'perf.data')], { stdio: 'pipe' });
{
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const said = [];
  page.on('pageerror', error => said.push(error.message));
  page.on('console', message => ['warning', 'error'].includes(message.type()) && said.push(message.text()));
  await page.goto(`${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/main.trace.json`)}&view=sandwich`);
  const row = page.getByText('spin_five', { exact: false }).first();
  await row.waitFor().catch(() => said.push('spin_five is not shown'));
  // The time of a function is that of its slices.
  const open = [], total = new Map(), wrong = [];
  for (const { ph, name, ts } of JSON.parse(fs.readFileSync(path.join(WORK, 'main.trace.json'), 'utf8')).traceEvents) {
    if (ph === 'B') open.push([name, ts]);
    if (ph !== 'E') continue;
    const [begun, since] = open.pop();
    if (begun !== name) wrong.push(`${name} ends where ${begun} is open`);
    total.set(name, (total.get(name) || 0) + ts - since);
  }
  check(wrong.length === 0, `chrome: ${wrong.length} ends, as ${wrong[0]}`);
  const milliseconds = ((total.get('spin_five') || 0) / 1000).toFixed(2) + 'ms';
  await page.getByText(milliseconds, { exact: false }).first().waitFor()
    .catch(() => said.push(`${milliseconds} of spin_five is not shown`));
  check(said.length === 0, `chrome: ${said.slice(0, 3).join('; ')}`);
  await page.screenshot({ path: path.join(WORK, 'chrome-in-speedscope.png') });
  await page.close();
}
await browser.close();
server.close();
finish();
