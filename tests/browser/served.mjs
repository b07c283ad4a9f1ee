// A page that readperf serves: started, opened in the browser, closed. It fails the test if anything in it fails or asks elsewhere.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export async function serve(file, ...words) {
  const child = spawn(process.env.READPERF, ['view', '--no-open', file, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  child.stderr.on('data', text => said.push(String(text)));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error(said.join(''))));
  });
  const end = signal => () => new Promise(resolve => { child.once('exit', resolve); child.kill(signal); });
  return { address, said, stop: end('SIGINT'), kill: end('SIGKILL') };
}

export async function visit(browser, site, query = '', options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, ...options });
  page.problems = [];
  page.on('pageerror', error => page.problems.push('error: ' + error.message));
  page.on('console', message => ['error', 'warning'].includes(message.type()) && page.problems.push('console: ' + message.text()));
  page.on('dialog', dialog => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', request => request.url().startsWith(site.address) || page.problems.push('request: ' + request.url()));
  page.on('response', answer => answer.status() >= 400 && page.problems.push(`${answer.status()}: ${answer.url()}`));
  await page.goto(site.address + query);
  await settled(page);
  return page;
}

// Nothing is being fetched any more.
export async function settled(page) {
  await page.waitForTimeout(30);
  await page.waitForFunction(() => !document.body.classList.contains('busy') && document.querySelector('#view')?.className);
  await page.waitForTimeout(30);
}
