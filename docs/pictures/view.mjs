// Pictures of the page that `readperf view` serves, as Chromium shows it: view.mjs NAME READPERF WORDS... writes NAME.png and NAME-dark.png.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [name, readperf, ...words] = process.argv.slice(2);
const server = spawn(readperf, ['view', '--no-open', ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
const address = await new Promise(resolve => { createInterface({ input: server.stdout }).once('line', resolve); });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
});
for (const colorScheme of ['light', 'dark']) {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 640 }, colorScheme });
  await tab.goto(address + '?collapse-recursion=1');
  await tab.waitForSelector('#flame-frames rect');
  const strip = await tab.locator('#strip canvas').boundingBox();
  await tab.mouse.move(strip.x + 330, strip.y + 12);
  await tab.mouse.down();
  await tab.mouse.move(strip.x + 500, strip.y + 12, { steps: 4 });
  await tab.mouse.move(strip.x + 900, strip.y + 12, { steps: 4 });
  await tab.mouse.up();
  await tab.waitForTimeout(1000);
  const box = await tab.locator('rect[aria-label^="forest::Tree<unsigned int>::insert_below"]').first().boundingBox();
  await tab.mouse.move(box.x + 40, box.y + 9);
  // The hint is whole when it names a line.
  await tab.waitForSelector('#flame-tip .line');
  await tab.screenshot({ path: `${name}${colorScheme === 'dark' ? '-dark' : ''}.png` });
}
await browser.close();
server.kill('SIGINT');
