// A headless Chromium that talks to nobody, and what the tests share.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import path from 'node:path';

export const work = process.env.WORK;
export const readperf = (...words) => execFileSync(process.env.READPERF, words, { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
export const made = kind => {
  const file = path.join(work, kind + '.perf.data');
  execFileSync('python3', [path.join(work, 'recordings.py'), kind, file]);
  return file;
};

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

// A page that fails the test if anything in it fails, asks for anything but itself, or opens a dialog.
export async function open(browser, file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...options });
  page.problems = [];
  page.on('pageerror', error => page.problems.push('error: ' + error.message));
  page.on('console', message => message.type() === 'error' && page.problems.push('console: ' + message.text()));
  page.on('dialog', dialog => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', request => request.url().split('#')[0] !== 'file://' + file && page.problems.push('request: ' + request.url()));
  const before = performance.now();
  await page.goto('file://' + file);
  page.opened_ms = performance.now() - before;
  return page;
}

let checks = 0, failures = 0;
export function check(holds, what) {
  checks++;
  if (holds) return;
  failures++;
  console.log('FAILED: ' + what);
}
export const equal = (got, expected, what) => check(got === expected, `${what}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
export const near = (got, expected, by, what) => check(Math.abs(got - expected) <= by, `${what}: ${got}, expected ${expected}`);
export function finish() {
  console.log(`${checks} checks, ${failures} failed`);
  process.exit(failures || !checks ? 1 : 0);
}
