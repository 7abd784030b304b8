// The ways to the rows before and after those that are shown. Where one is stands in the address.

import type { ComponentChildren } from "preact";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";

interface PageLinksProps {
  /** Addresses; null where there is no such page. */
  readonly before: string | null;
  readonly after: string | null;
  readonly words: { readonly before: string; readonly after: string };
  /** Of which rows, where a page has several tables. */
  readonly of?: string;
  /** Where one is, between the two. */
  readonly children?: ComponentChildren;
}

/** To the page before, and to the one after. */
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

/** Of rows that the API is asked for page by page. */
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
