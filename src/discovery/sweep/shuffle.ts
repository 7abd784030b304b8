// Random order in bounded memory: shuffles block by block.

import type { Random } from "../../base/random.ts";

export function* shuffledInBlocks<Item>(
  items: Iterable<Item>,
  blockSize: number,
  random: Random,
): Generator<Item, undefined> {
  let block: Item[] = [];
  for (const item of items) {
    block.push(item);
    if (block.length < blockSize) continue;
    yield* shuffled(block, random);
    block = [];
  }
  yield* shuffled(block, random);
}

/** Fisher–Yates, in place. Four bytes per choice: the modulo bias is one in a million. */
function shuffled<Item>(items: Item[], random: Random): Item[] {
  const bytes = random.bytes(items.length * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = view.getUint32(last * 4) % (last + 1);
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
