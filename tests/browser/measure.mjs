// How long the page of `readperf view` takes, and how much memory: by the browser's own metrics, without a GPU.
//
//     READPERF=… WORK=DIR node measure.mjs RECORDING [ROUNDS]
//
// Each number is the least of some rounds, as other work on the machine only adds to it. Drawing is the time that the browser's main thread
// works (script, style, layout, paint) to draw the flame graph anew; memory is JavaScript's heap behind a collection, and before it.
import { readFileSync, readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { launch, made, readperf } from './browser.mjs';
import { serve, settled, visit } from './served.mjs';

const [recording, rounds = '5'] = process.argv.slice(2);
const browser = await launch();
const rows = [];
const tell = (what, got, wanted = '') => { rows.push([what, got, wanted]); console.log(`| ${what} | ${got} | ${wanted} |`); };
const ms = time => time.toFixed(0) + ' ms';
const mib = bytes => (bytes / (1 << 20)).toFixed(1) + ' MiB';
const least = async measure => {
  const got = [];
  for (let round = 0; round < Number(rounds); round++) got.push(await measure());
  return Math.min(...got);
};

// How long a process and its threads were on a CPU, in ms.
function onCpu(pid) {
  const of = thread => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      return 0;
    }
  };
  return readdirSync(`/proc/${pid}/task`).map(of).reduce((sum, one) => sum + one, 0) / 1e6;
}

async function metrics(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

// What the main thread works until the next picture is there.
async function drawing(page, session, act) {
  const before = await metrics(session);
  await page.evaluate(act);
  await page.evaluate(() => new Promise(resolve => { requestAnimationFrame(() => setTimeout(resolve, 0)); }));
  return ((await metrics(session)).TaskDuration - before.TaskDuration) * 1000;
}

async function heap(session) {
  const used = (await metrics(session)).JSHeapUsedSize;
  await session.send('HeapProfiler.collectGarbage');
  return { used, kept: (await metrics(session)).JSHeapUsedSize };
}

async function connected(page) {
  const session = await page.context().newCDPSession(page);
  // In time of the thread's own: what else the machine does does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return session;
}

console.log('| what | least of ' + rounds + ' | wanted |\n|---|--:|--:|');

// Drawing.
for (const [kind, wanted] of [['some', 16], ['many', 150]]) {
  const site = await serve(made(kind)), page = await visit(browser, site), session = await connected(page);
  const frames = await page.evaluate(() => fetch('data/flame?columns=2560').then(answer => answer.json()).then(data => data.depth.length));
  const again = () => window.dispatchEvent(new Event('resize'));
  tell(`${frames.toLocaleString('en-US')} frames drawn at 1280 × 720`, ms(await least(() => drawing(page, session, again))), wanted + ' ms');
  await page.close();
  await site.stop();
}

if (recording) {
  const timed = act => async () => { const before = performance.now(); await act(); return performance.now() - before; };
  const report = await least(timed(() => readperf('report', '--no-inline', '--sort', 'dso,symbol', recording)));
  // A tab in a window that is open: a new window has parts of the browser's own to load, for about a second of CPU time.
  const window = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  await window.newPage();
  // The browser says when it has drawn the flame graph: who drives it learns that a tenth of a second later.
  const first = await least(async () => {
    const before = performance.timeOrigin + performance.now(), site = await serve(recording), page = await window.newPage();
    await page.addInitScript(() => {
      const drawn = () => { performance.mark('drawn'); };
      const observer = new MutationObserver(() => {
        if (!document.querySelector('#flame-frames rect[role]')) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(drawn, 0));
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    await page.goto(site.address);
    const drawn = await page.waitForFunction(() => performance.getEntriesByName('drawn').map(mark => performance.timeOrigin + mark.startTime)[0], undefined, { timeout: 120_000 });
    const took = await drawn.jsonValue() - before;
    await page.close();
    await site.stop();
    return took;
  });
  await window.close();
  tell('`report`, with starting it', ms(report));
  tell('first picture, with starting the server and a tab', ms(first), `${ms(report + 500)}`);

  const site = await serve(recording), page = await visit(browser, site), session = await connected(page);
  const used = [await heap(session)];
  // What the server takes for a click: each round asks what has not been asked before.
  const summary = await page.evaluate(() => fetch('data/summary').then(answer => answer.json()));
  const length = await page.evaluate(() => fetch('data/time').then(answer => answer.json()).then(answer => answer.length_ns));
  let turn = 0;
  const range = () => { turn++; return `from=${Math.floor(length * (0.1 + turn / 200))}&to=${Math.floor(length * (0.5 + turn / 200))}`; };
  const thread = () => { turn++; return 'pid=' + summary.processes[turn % Math.min(20, summary.processes.length)].pid; };
  const names = await page.evaluate(() => fetch('data/functions').then(answer => answer.json()).then(answer => answer.rows.map(row => row.name)));
  const pattern = () => encodeURIComponent('^' + names[++turn % Math.min(50, names.length)].replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$');
  const most = () => `from=${Math.floor(length * ++turn / 2000)}&to=${length}`;
  const choices = {
    'a range of time': range, 'nearly all of the time': most, 'a process': thread, 'a focus': () => 'focus=' + pattern(),
    'all without a function': () => 'ignore=' + pattern(),
  };
  const views = { flame: '', functions: '', time: '', 'flame-time': '', search: 'functions?search=alloc&', matched: 'matched?search=alloc&', inverted: 'flame?inverted=1&' };
  const times = [];
  for (const [what, query] of Object.entries(choices)) {
    for (const [view, address] of Object.entries(views)) {
      const asked = async () => {
        const before = onCpu(site.pid);
        times.push(await page.evaluate(async question => {
          const before = performance.now();
          await fetch(question).then(answer => answer.arrayBuffer());
          return performance.now() - before;
        }, `data/${address || view + '?'}${query()}`));
        return onCpu(site.pid) - before;
      };
      tell(`answer: ${view} of ${what}, CPU time of the server`, ms(await least(asked)), '100 ms');
    }
  }
  times.sort((a, b) => a - b);
  tell('95 % of all these answers, by the clock', 'within ' + ms(times[Math.ceil(times.length * 0.95) - 1]), '1000 ms');
  // A walk through the views, and many zooms.
  for (const key of ['4', '5', '3', '7', '2', 'i', 'i']) {
    await page.keyboard.press(key);
    await settled(page);
  }
  used.push(await heap(session));
  for (let zoom = 0; zoom < 30; zoom++) {
    const boxes = page.locator('#flame-frames rect[role]');
    await boxes.nth(Math.min(2 + zoom % 9, await boxes.count() - 1)).click({ force: true });
    await settled(page);
    if (zoom % 5 === 4) {
      await page.keyboard.press('Escape');
      await settled(page);
    }
  }
  used.push(await heap(session));
  ['the first picture', 'all views', '30 zooms'].forEach((what, at) => tell(`heap behind ${what}, and with garbage`, `${mib(used[at].kept)}, ${mib(used[at].used)}`, '50 MiB'));
  const zoom = () => { document.querySelectorAll('#flame-frames rect[role]')[1]?.dispatchEvent(new MouseEvent('click', { bubbles: true })); };
  tell('a zoom drawn from what is there', ms(await drawing(page, session, zoom)), '16 ms');
  await page.close();
  await site.stop();
}
await browser.close();
process.exit(0);
