// Viewers from a folder, readperf that serves them an export, and the browser that looks.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';

const { READPERF, FIXTURES } = process.env;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml' };
export const EMPTY = '/empty.html';

/** A viewer's page from a folder; what is not there is its first page, as viewers with addresses of their own have it. */
export async function pages(folder, headers = {}) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const own = path.join(folder, path.normalize(name)), file = fs.existsSync(own) && fs.statSync(own).isFile() ? own : path.join(folder, 'index.html');
    const isEmpty = name === EMPTY || !fs.existsSync(file);
    response.writeHead(200, { 'Content-Type': isEmpty ? 'text/html' : TYPES[path.extname(file)] || 'application/octet-stream', ...headers });
    response.end(isEmpty ? '<!DOCTYPE html><link rel="icon" href="data:,">' : fs.readFileSync(file));
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// Those that have not ended: a test that fails leaves none behind.
const running = new Set();
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')));

/** `readperf view` of a fixture. */
export async function serve(kind, ...words) {
  const child = spawn(READPERF, ['view', '--no-open', ...words, path.join(FIXTURES, kind, 'perf.data')], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error(words.join(' '))));
  });
  return { address, stop: () => new Promise(resolve => { child.once('exit', resolve); child.kill('SIGINT'); }) };
}

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});

/** How many bytes a page gets from an address. */
export const fetched = (page, url) => page.evaluate(url => fetch(url).then(answer => answer.arrayBuffer()).then(bytes => bytes.byteLength).catch(() => 'refused'), url);
