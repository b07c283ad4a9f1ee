function wanted(text) {
  // What is searched for. Without capital letters case does not matter. What is no regular expression is searched for as it is, and so is what
  // readperf itself does not take as one: look-around and references back. `(?i)` is a flag here.
  const plain = text.replace(/^\(\?i\)/, '');
  const flags = plain === text && /\p{Lu}/u.test(text) ? 'u' : 'iu';
  try {
    if (/\(\?<?[=!]|\\[1-9]|\\k</.test(plain.replace(/\\\\/g, ''))) throw new SyntaxError(plain);
    return { pattern: new RegExp(plain, flags), valid: true };
  } catch {
    return { pattern: new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), /\p{Lu}/u.test(text) ? 'u' : 'iu'), valid: false };
  }
}
