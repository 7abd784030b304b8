// The ways to the rows before and after those that are shown. Where one is stands in the address.

import { hrefHere } from "../url/location.ts";

interface PagerProps {
  /** Of the first row that is shown. */
  readonly offset: number;
  /** Of a page. */
  readonly rows: number;
  readonly hasMore: boolean;
  /** How many rows there are; left out where nobody knows. */
  readonly total?: number | undefined;
  readonly newer: string;
  readonly older: string;
  /** The instant before which rows are counted, where new ones come in at the beginning. */
  readonly until?: string | null;
}

export function Pager({ offset, rows, hasMore, total, newer, older, until = null }: PagerProps) {
  if (offset === 0 && !hasMore) return null;
  const before = Math.max(0, offset - rows);
  const number = (count: number) => new Intl.NumberFormat("en").format(count);
  return (
    <nav class="pager" aria-label={`${newer}, ${older}`}>
      {offset > 0 && (
        <a
          class="button"
          rel="prev"
          href={hrefHere({ offset: before === 0 ? null : String(before), until: before === 0 ? null : until })}
        >
          {newer}
        </a>
      )}
      {total !== undefined && (
        <span class="aside">
          {number(Math.min(offset + 1, total))}–{number(Math.min(offset + rows, total))} / {number(total)}
        </span>
      )}
      {hasMore && (
        <a class="button" rel="next" href={hrefHere({ offset: String(offset + rows), until })}>
          {older}
        </a>
      )}
    </nav>
  );
}
