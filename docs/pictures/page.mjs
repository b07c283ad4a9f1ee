// Pictures of a flame graph's page as Chromium shows it: page.mjs PAGE.html NAME writes NAME.png and NAME-dark.png.
import { chromium } from 'playwright-core';

const [page, name] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
});
for (const colorScheme of ['light', 'dark']) {
  const tab = await browser.newPage({ viewport: { width: 1100, height: 335 }, colorScheme });
  await tab.goto('file://' + page);
  await tab.click('#flame-fold');
  const box = await tab.locator('rect[aria-label^="forest::Tree<unsigned int>::insert_below"]').first().boundingBox();
  await tab.mouse.move(box.x + 40, box.y + 9);
  await tab.screenshot({ path: `${name}${colorScheme === 'dark' ? '-dark' : ''}.png` });
}
await browser.close();
