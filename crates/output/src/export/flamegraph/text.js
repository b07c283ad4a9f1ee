// Texts for people. Rust writes the same texts into the picture without script; both are held to the table texts.json.
const digits = new Intl.NumberFormat('en-US');
const grouped = number => digits.format(Number(number));

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

// How many columns a text takes.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const widthOf = letter => letter < '\u0300' ? 1 : /\p{Mn}|\p{Me}|\p{Cf}/u.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
const width = text => /^[\x20-\x7e]*$/.test(text) ? text.length : Array.from(text).reduce((sum, letter) => sum + widthOf(letter), 0);

// The first letters that fit.
function fitting(letters, room) {
  let used = 0;
  const end = letters.findIndex(letter => (used += widthOf(letter)) > room);
  return end < 0 ? letters : letters.slice(0, end);
}

function withoutMiddle(text, room) {
  if (width(text) <= room) return text;
  if (room < 1) return '';
  const letters = Array.from(text), kept = room - 1;
  return fitting(letters, Math.ceil(kept / 2)).join('') + '…' + fitting(letters.reverse(), Math.floor(kept / 2)).reverse().join('');
}

// A name in so many columns: the widest of its forms that fits. The last form is the function's own name and a mark; in less room
// that name loses its middle.
function shorten(name, forms, room) {
  if (width(name) <= room) return name;
  for (const form of forms || []) if (width(form) <= room) return form;
  const own = forms ? forms[forms.length - 1].slice(0, -1) : name;
  return width(own) === room ? fitting(Array.from(own), room - 1).join('') + '…' : withoutMiddle(own, room);
}

