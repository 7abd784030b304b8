// Keyboard navigation in a grid (ARIA Authoring Practices, "Grid"). Pure.

/** Rows per page key. */
const PAGE = 8;

/**
 * Target cell of a key; null for other keys.
 * @param isToEnd whether Home and End apply to the whole grid instead of the row
 */
export function gridStep(
  key: string,
  { index, columns, count, isToEnd }: { index: number; columns: number; count: number; isToEnd: boolean },
): number | null {
  const column = index % columns;
  const within = (to: number) => (to < 0 || to >= count ? index : to);
  switch (key) {
    case "ArrowRight":
      return within(index + 1);
    case "ArrowLeft":
      return within(index - 1);
    case "ArrowDown":
      return within(index + columns);
    case "ArrowUp":
      return within(index - columns);
    case "PageDown":
      return Math.min(index + PAGE * columns, lastIn(column, columns, count));
    case "PageUp":
      return Math.max(index - PAGE * columns, column);
    case "Home":
      return isToEnd ? 0 : index - column;
    case "End":
      return isToEnd ? count - 1 : Math.min(count - 1, index - column + columns - 1);
    default:
      return null;
  }
}

function lastIn(column: number, columns: number, count: number): number {
  return column + Math.floor((count - 1 - column) / columns) * columns;
}
