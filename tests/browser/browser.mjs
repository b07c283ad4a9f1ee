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

/** Runs in a page before its own code: `putOff` has the timers that are still to come. */
export const countTimers = () => {
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout], putOff = new Set();
  globalThis.putOff = putOff;
  globalThis.setTimeout = (act, ms, ...words) => {
    const timer = set(() => { try { act(...words); } finally { putOff.delete(timer); } }, ms);
    putOff.add(timer);
    return timer;
  };
  globalThis.clearTimeout = timer => { putOff.delete(timer); clear(timer); };
};

// A page that fails the test if anything in it fails, asks for anything but itself, or opens a dialog.
export async function open(browser, file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...options });
  await page.addInitScript(countTimers);
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

export const percent = share => (share * 100).toFixed(2) + ' %';
export const text = (page, id) => page.evaluate(id => document.getElementById(id).textContent, id);

// The folded stacks of a recording, as written for other tools.
export function folded(file, ...words) {
  return readperf('export', '-f', 'folded', ...words, file).trimEnd().split('\n').map(line => {
    const space = line.lastIndexOf(' ');
    return { stack: line.slice(0, space).split(';'), weight: Number(line.slice(space + 1)) };
  });
}
// The same without the names of threads.
export const functions = (file, ...words) => folded(file, ...words).map(({ stack, weight }) => ({ stack: stack.slice(1), weight }));
export const total = stacks => stacks.reduce((sum, { weight }) => sum + weight, 0);
// The share of the stacks that a test holds for.
export function shares(stacks) {
  const whole = total(stacks);
  return is => total(stacks.filter(({ stack }) => is(stack))) / whole;
}

// Frames of a flame graph as drawn: text for people, place, class.
export const boxes = page => page.evaluate(() => Array.from(document.querySelectorAll('#flame-frames rect[role]'), box => ({
  label: box.getAttribute('aria-label'), class: box.getAttribute('class'), depth: Number(box.getAttribute('aria-level')) - 1,
  x: box.getBoundingClientRect().x, y: box.getBoundingClientRect().y, width: box.getBoundingClientRect().width, id: box.id,
})));
// Names may hold anything but ": " and a share.
export const nameOf = box => box.label.replace(/( \([^()]*\))?: [0-9.]+ %, .*$/s, '');

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
