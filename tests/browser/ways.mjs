// Folded stacks by their ways: what all stacks that begin with some frames weigh.
import { total } from './browser.mjs';

export class Ways {
  constructor(stacks) {
    this.stacks = stacks;
    this.total = total(stacks);
    this.root = { weight: 0, called: new Map() };
    for (const { stack, weight } of stacks) {
      let at = this.root;
      at.weight += weight;
      for (const name of stack) {
        let next = at.called.get(name);
        if (!next) at.called.set(name, next = { weight: 0, called: new Map() });
        next.weight += weight;
        at = next;
      }
    }
  }

  /** The weight of the stacks that begin with these frames. */
  weight(way) {
    let at = this.root;
    for (const name of way) at = at?.called.get(name);
    return at?.weight ?? 0;
  }

  /** The share of the stacks that a test holds for. */
  share(is) {
    return total(this.stacks.filter(({ stack }) => is(stack))) / this.total;
  }
}
