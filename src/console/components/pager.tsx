// Links to the previous and next page of rows. The URL holds the position.

import type { ComponentChildren } from "preact";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";
import { LinkButton } from "./buttons.tsx";

interface PageLinksProps {
  /** URLs; null if there is no such page. */
  readonly previous: string | null;
  readonly next: string | null;
  readonly labels: { readonly previous: string; readonly next: string };
  /** Name of the rows, for pages with several tables. */
  readonly title?: string;
  /** Position, shown between the links. */
  readonly children?: ComponentChildren;
}

/** Links to the previous and the next page. */
export function PageLinks({ previous, next, labels, title, children }: PageLinksProps) {
  const labelOf = (text: string) => (title === undefined ? undefined : `${text}: ${title}`);
  return (
    <>
      {previous !== null && (
        <LinkButton href={previous} label={labels.previous} rel="prev" aria-label={labelOf(labels.previous)} />
      )}
      {children}
      {next !== null && <LinkButton href={next} label={labels.next} rel="next" aria-label={labelOf(labels.next)} />}
    </>
  );
}

interface PagerProps {
  /** Offset of the first row shown. */
  readonly offset: number;
  /** Rows per page. */
  readonly rows: number;
  readonly hasMore: boolean;
  /** Total number of rows; omitted if unknown. */
  readonly total?: number | undefined;
  readonly newer: string;
  readonly older: string;
  /** Upper time bound of the rows, which keeps offsets stable while new rows arrive at the top. */
  readonly until?: string | null;
}

/** Pager for rows that the API returns page by page. */
export function Pager({ offset, rows, hasMore, total, newer, older, until = null }: PagerProps) {
  if (offset === 0 && !hasMore) return null;
  const previous = Math.max(0, offset - rows);
  const first = { offset: null, until: null };
  return (
    <nav class="pager" aria-label={`${newer}, ${older}`}>
      <PageLinks
        previous={offset === 0 ? null : hrefHere(previous === 0 ? first : { offset: String(previous), until })}
        next={hasMore ? hrefHere({ offset: String(offset + rows), until }) : null}
        labels={{ previous: newer, next: older }}
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
