// The texts that the script of flame graphs makes are those of the table that Rust is held to, too.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { check, equal, finish } from './browser.mjs';

const sources = path.join(process.env.FIXTURES, '../../crates/output/src/export/flamegraph');
const script = readFileSync(path.join(sources, 'text.js'), 'utf8');
const { duration, samples, shorten } = new Function(script + '; return { duration, samples, shorten };')();
const table = JSON.parse(readFileSync(path.join(sources, 'texts.json'), 'utf8'));
for (const [rows, told] of [['durations', duration], ['samples', samples]]) {
  check(table[rows].length > 0, rows);
  for (const [value, text] of table[rows]) equal(told(value), text, `${rows}: ${value}`);
}
check(table.names.length > 0, 'names');
for (const { name, forms, rooms } of table.names)
  for (const room in rooms) equal(shorten(name, forms.length ? forms : 0, Number(room)), rooms[room], `${name} in ${room}`);
finish();
