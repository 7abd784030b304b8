// Inline list, separated by commas.

import type { ComponentChildren } from "preact";

interface CommaListProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly children: (item: Item) => ComponentChildren;
}

export function CommaList<Item>({ items, keyOf, children }: CommaListProps<Item>) {
  return items.map((item, index) => (
    <span key={keyOf(item)}>
      {index > 0 && ", "}
      {children(item)}
    </span>
  ));
}
