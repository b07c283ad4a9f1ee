// The scripts of the page that `readperf view` serves: their types hold, and a linter finds nothing.
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { check, equal, finish, work } from './browser.mjs';

const sources = path.join(process.env.FIXTURES, '..', '..', 'crates', 'view', 'page'), page = path.join(work, 'page');
cpSync(sources, page, { recursive: true });

// What a tool says of the scripts; nothing if it finds nothing.
function said(tool, ...words) {
  try {
    execFileSync(path.join(work, 'node_modules', '.bin', tool), words, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return '';
  } catch (error) {
    return error.stdout + error.stderr;
  }
}
const types = file => said('tsc', '--noEmit', '--allowJs', '--checkJs', '--strict', '--target', 'es2022', '--module', 'es2022', '--moduleResolution', 'bundler',
  '--lib', 'es2022,dom,dom.iterable', file);
equal(types('page/main.js'), '', 'types');
equal(said('eslint', 'page'), '', 'linter');

// The tools look: what is wrong is found.
writeFileSync(path.join(page, 'wrong.js'), "import { el } from './dom.js';\nexport const length = el('p').size;\nconst unused = 1;\n");
check(types('page/wrong.js').includes("'size' does not exist"), 'a wrong type is found');
check(said('eslint', 'page').includes('unused'), 'an unused name is found');
finish();
