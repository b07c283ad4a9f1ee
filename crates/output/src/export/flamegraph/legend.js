// What the colours mean. The kinds of code come as a list, too: colours by name tell none.
function legend() {
  const colours = make(XHTML, 'span', { class: 'flame-legend', 'aria-label': 'Colours' }), kinds = [];
  const entry = (classes, text) => {
    const item = make(XHTML, 'span', {});
    for (const name of classes) {
      const patch = make(SVG, 'svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' });
      patch.append(make(SVG, 'rect', { class: name, width: 12, height: 12 }));
      item.append(patch);
    }
    item.append(text);
    colours.append(item);
    return item;
  };
  if (data.differs) {
    entry(['d0', 'd3'], 'less');
    entry(['d6'], 'the same');
    entry(['d9', 'd12'], 'more');
  } else {
    const present = new Set(data.sort);
    data.sorts.forEach((name, sort) => {
      if (!present.has(sort) || sort <= 1) return;
      const item = entry(['k' + sort + '2'], name);
      if (sort !== LEFT_OUT) kinds.push(item);
    });
  }
  return { colours, kinds };
}

