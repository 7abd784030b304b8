// Links to the previous and next rows. The URL holds the position.

import type { ComponentChildren } from "preact";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";

interface PageLinksProps {
  /** URLs; null if there is no such page. */
  readonly before: string | null;
  readonly after: string | null;
  readonly words: { readonly before: string; readonly after: string };
  /** Row type, for pages with several tables. */
  readonly of?: string;
  /** Position, shown between the links. */
  readonly children?: ComponentChildren;
}

/** Links to the previous and the next page. */
export function PageLinks({ before, after, words, of, children }: PageLinksProps) {
  const called = (text: string) => (of === undefined ? undefined : `${text}: ${of}`);
  return (
    <>
      {before !== null && (
        <a class="button" rel="prev" href={before} aria-label={called(words.before)}>
          {words.before}
        </a>
      )}
      {children}
      {after !== null && (
        <a class="button" rel="next" href={after} aria-label={called(words.after)}>
          {words.after}
        </a>
      )}
    </>
  );
}

interface PagerProps {
  /** Offset of the first row shown. */
  readonly offset: number;
  /** Rows per page. */
  readonly rows: number;
  readonly hasMore: boolean;
  /** Number of rows; omitted if unknown. */
  readonly total?: number | undefined;
  readonly newer: string;
  readonly older: string;
  /** Upper time bound of the rows, which keeps offsets stable while new rows arrive at the top. */
  readonly until?: string | null;
}

/** For rows that the API returns by page. */
export function Pager({ offset, rows, hasMore, total, newer, older, until = null }: PagerProps) {
  if (offset === 0 && !hasMore) return null;
  const previous = Math.max(0, offset - rows);
  const first = { offset: null, until: null };
  return (
    <nav class="pager" aria-label={`${newer}, ${older}`}>
      <PageLinks
        before={offset === 0 ? null : hrefHere(previous === 0 ? first : { offset: String(previous), until })}
        after={hasMore ? hrefHere({ offset: String(offset + rows), until }) : null}
        words={{ before: newer, after: older }}
      >
        {total !== undefined && (
          <span class="aside">
            {groupedDigits(Math.min(offset + 1, total))}–{groupedDigits(Math.min(offset + rows, total))} /{" "}
            {groupedDigits(total)}
          </span>
        )}
      </PageLinks>
    </nav>
  );
}
