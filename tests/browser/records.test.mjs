// The records of a recording in the page: those of `dump --json`, wherever one scrolls or jumps to.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { check, equal, finish, launch, made, readperf, work } from './browser.mjs';
import { serve, settled, visit } from './served.mjs';

const browser = await launch();
const fixture = name => path.join(process.env.FIXTURES, name, 'perf.data');
const dump = (file, ...words) => readperf('dump', '--json', ...words, file).trimEnd().split('\n').map(line => JSON.parse(line));
const shown = page => page.evaluate(() => Array.from(document.querySelectorAll('.records tbody tr'), row => ({
  cells: Array.from(row.children, cell => cell.textContent), place: Number(row.getAttribute('aria-rowindex')), damaged: row.className })));
const grouped = number => number.toLocaleString('en-US');
// Times in ns are wider than numbers here: what is compared are the last digits of the text.
function same(row, record, what) {
  const [number, offset, type, time, size, event] = row.cells;
  equal(JSON.stringify([number, offset, type, size, event]),
    JSON.stringify([grouped(record.index), '0x' + record.offset.toString(16), record.type, grouped(record.size), record.event ?? '']), what);
  equal(time === '', record.time === undefined, what + ': time');
  if (time) equal(Number(time).toFixed(5), (record.time / 1e9).toFixed(5), what + ': time');
}
const note = page => page.locator('.records .note').textContent();
const press = async (page, ...keys) => { for (const key of keys) { await page.keyboard.press(key); await settled(page); } };

// A list that is longer than the window, by keys, wheel, bar and jumps.
{
  const file = fixture('multi'), records = dump(file);
  const site = await serve(file), page = await visit(browser, site, '?view=recording&part=records');
  const first = await shown(page);
  check(first.length > 5 && first.length < 60, `${first.length} rows are in the document`);
  check((await note(page)).startsWith(grouped(records.length) + ' records'), await note(page));
  first.forEach((row, at) => same(row, records[at], 'row ' + at));
  equal(await page.locator('.long').getAttribute('aria-rowcount'), String(records.length), 'rows in all');
  await page.locator('.long').focus();
  await press(page, 'End');
  const last = await shown(page);
  last.forEach(row => same(row, records[row.place - 1], 'at the end'));
  equal(last.at(-1).place, records.length, 'the last row');
  equal(new URL(page.url()).searchParams.get('record'), String(records.at(-1).index), 'the record is in the address');
  await press(page, 'Home', 'ArrowDown', 'ArrowDown', 'PageDown', 'k');
  const chosen = Number(new URL(page.url()).searchParams.get('record'));
  equal(await page.locator('.long tr[aria-selected=true] td').first().textContent(), grouped(chosen), 'keys move');
  const text = readperf('dump', '--limit', String(chosen + 1), file).split(/\n(?=0x)/).at(-1).trimEnd();
  equal((await page.locator('.one pre').first().textContent()).trimEnd(), text, 'its fields are those of dump');
  const bytes = readFileSync(file).subarray(records[chosen].offset, records[chosen].offset + records[chosen].size);
  const hex = (await page.locator('.one pre').nth(1).textContent()).split('\n').map(line => line.slice(6, 53).replaceAll(' ', '')).join('');
  equal(hex, bytes.toString('hex'), 'its bytes are those of the file');

  const go = async to => { await page.fill('.records input', to); await page.press('.records input', 'Enter'); await settled(page); };
  const at = () => Number(new URL(page.url()).searchParams.get('record'));
  const some = records.filter(record => record.time).at(-100);
  await go('#77');
  equal(at(), 77, 'by number');
  await go('0x' + some.offset.toString(16));
  equal(at(), some.index, 'by offset');
  const ns = some.time - 1;
  await go(`${Math.floor(ns / 1e9)}.${String(ns % 1e9).padStart(9, '0')}`);
  equal(at(), records.find(record => record.time >= ns).index, 'by time');
  await page.locator('.long').evaluate(list => { list.scrollTop = list.scrollHeight / 2; });
  await settled(page);
  const middle = await shown(page);
  check(middle[0].place > 10 && middle.at(-1).place < records.length, 'the bar leads to the middle');
  middle.forEach(row => same(row, records[row.place - 1], 'in the middle'));
  await page.locator('.long').hover();
  await page.mouse.wheel(0, 220);
  await settled(page);
  const wheeled = await shown(page);
  equal(wheeled[0].place, middle[0].place + 10, 'the wheel moves by rows');
  wheeled.forEach(row => same(row, records[row.place - 1], 'behind the wheel'));
  await page.reload();
  await settled(page);
  equal(await page.locator('.long tr[aria-selected=true] td').first().textContent(), grouped(at()), 'a reload shows the record again');

  // Types, and texts.
  const kind = records.find(record => record.type === 'MMAP2'), of = records.filter(record => record.type === 'MMAP2');
  await page.selectOption('.records select', String(kind.number));
  await settled(page);
  (await shown(page)).forEach((row, nr) => same(row, of[nr], 'of a type'));
  equal(await page.locator('.long').getAttribute('aria-rowcount'), String(of.length), 'how many of a type');
  await go('0x' + (of[3].offset - 1).toString(16));
  equal(at(), of[3].index, 'a jump among those of a type');
  await page.selectOption('.records select', '');
  await page.fill('#search', 'libc\\.so');
  await page.waitForFunction(() => /found$/.test(document.querySelector('.records .note').textContent));
  const texts = readperf('dump', file).split(/\n(?=0x)/), matching = records.filter((_, nr) => /libc\.so/.test(texts[nr]));
  check(matching.length > 1, `${matching.length} records name libc`);
  equal(await note(page), `${grouped(matching.length)} records found`, 'what matches is counted');
  (await shown(page)).forEach((row, nr) => same(row, matching[nr], 'a match'));
  await page.fill('#search', '');
  await settled(page);
  equal(page.problems.join(), '', 'records');
  await page.close();
  await site.stop();
}

// Damage is shown where it is.
{
  const records = dump(fixture('main')), bytes = readFileSync(fixture('main')), file = path.join(work, 'damaged.perf.data');
  bytes.fill(0xff, records[40].offset, records[43].offset);
  writeFileSync(file, bytes);
  const site = await serve(file), page = await visit(browser, site, '?view=recording&part=records&kind=damaged');
  await page.waitForFunction(() => / damaged/.test(document.querySelector('.records .note').textContent));
  const [row, ...others] = await shown(page);
  equal(others.length, 0, 'one place is damaged');
  equal(row.cells[1], '0x' + records[43].offset.toString(16), 'it is before this record');
  const lost = records[43].offset - records[40].offset;
  check(row.cells[6].startsWith(`behind ${lost} bytes that are no record`) && row.damaged, row.cells[6]);
  await page.click('.long tbody tr');
  await settled(page);
  check((await page.locator('.one pre').nth(1).textContent()).startsWith('bytes before it that are no record:\n0000  ff ff'), 'they are shown');
  equal(page.problems.join(), '', 'damage');
  await page.close();
  await site.stop();
}

// More rows than an element can be high, and other kinds of recordings.
{
  const file = made('many'), site = await serve(file), page = await visit(browser, site, '?view=recording&part=records');
  const all = Number(await page.locator('.long').getAttribute('aria-rowcount'));
  await page.locator('.long').focus();
  await press(page, 'End');
  equal((await shown(page)).at(-1).place, all, 'the last of many');
  await page.close();
  await site.stop();
}
for (const name of ['zstd', 'pipe', 'tracepoints']) {
  const file = fixture(name), records = dump(file), site = await serve(file), page = await visit(browser, site, '?view=recording&part=records');
  (await shown(page)).forEach((row, at) => same(row, records[at], name));
  await page.locator('.long').focus();
  await press(page, 'End');
  (await shown(page)).forEach(row => same(row, records[row.place - 1], name));
  equal(page.problems.join(), '', name);
  await page.close();
  await site.stop();
}

await browser.close();
finish();
