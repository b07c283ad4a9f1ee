// Texts for people. Rust writes the same texts into the picture without script; both are held to the table texts.json.
const grouped = number => Number(number).toLocaleString('en-US');

// A time: to a thousandth of the unit that it is at least one of, seconds at most.
function duration(ns) {
  for (const [unit, name] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']]) {
    if (ns < unit) continue;
    const step = unit / 1000, rest = ns % step, thousandths = (ns - rest) / step + (rest * 2 >= step ? 1 : 0);
    return grouped(Math.floor(thousandths / 1000)) + '.' + String(thousandths % 1000).padStart(3, '0') + ' ' + name;
  }
  return ns + ' ns';
}

const samples = count => grouped(count) + (Number(count) === 1 ? ' sample' : ' samples');
const percent = share => (share * 100).toFixed(2) + ' %';

// A name that fits into so many letters (placeholder until the rule of short names is here).
const shorten = (name, room) => name.length <= room ? name : Array.from(name.slice(0, 2 * room)).slice(0, room - 1).join('') + '…';

