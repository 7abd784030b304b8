// Keyboard navigation in a grid (ARIA Authoring Practices, "Grid"). Pure.

import { ownValue } from "../text/own-value.ts";

/** Rows that Page Up and Page Down move by. */
const PAGE = 8;

/** Cell that a key moves to; null for other keys. @param isToEnd whether Home and End span the grid, not the row */
export function gridStep(
  key: string,
  { index, columns, count, isToEnd }: { index: number; columns: number; count: number; isToEnd: boolean },
): number | null {
  const column = index % columns;
  const ifInGrid = (to: number) => (to < 0 || to >= count ? index : to);
  const targets: Readonly<Record<string, number>> = {
    ArrowRight: ifInGrid(index + 1),
    ArrowLeft: ifInGrid(index - 1),
    ArrowDown: ifInGrid(index + columns),
    ArrowUp: ifInGrid(index - columns),
    PageDown: Math.min(index + PAGE * columns, lastIn(column, columns, count)),
    PageUp: Math.max(index - PAGE * columns, column),
    Home: isToEnd ? 0 : index - column,
    End: isToEnd ? count - 1 : Math.min(count - 1, index - column + columns - 1),
  };
  return ownValue(targets, key) ?? null;
}

function lastIn(column: number, columns: number, count: number): number {
  return column + Math.floor((count - 1 - column) / columns) * columns;
}
