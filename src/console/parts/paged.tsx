// A table of more rows than one draws at once: in pages, with a field that finds in all of them. Page and words are in the
// address; other tabs begin anew.

import type { ComponentChildren } from "preact";
import { partText } from "../text/frame.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { FIND_FROM, type PageOfRows, pageOfRows } from "./paged-rows.ts";
import { PageLinks } from "./pager.tsx";

interface PagedProps<Row> {
  readonly rows: readonly Row[];
  /** What they are, for the field. */
  readonly title: string;
  /** What is searched in a row. */
  readonly textOf: (row: Row) => string;
  /** Where its page is shown unless the address says another. */
  readonly isChosen?: (row: Row) => boolean;
  /** Tells the tables of one page from one another in the address; none for the only one. */
  readonly name?: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

export function Paged<Row>({ rows: all, title, textOf, isChosen, name = "", children }: PagedProps<Row>) {
  const [findParameter, pageParameter] = [`${name}find`, `${name}page`];
  const find = parameter(findParameter) ?? "";
  const shown = pageOfRows(all, { page: parameter(pageParameter), find, textOf, isChosen });
  return (
    <PageFrame shown={shown} count={all.length} title={title} name={name}>
      {children(shown.rows)}
    </PageFrame>
  );
}

interface PageFrameProps {
  /** Null while it is not known what is found. */
  readonly shown: Omit<PageOfRows<unknown>, "rows"> | null;
  /** How many rows there are. */
  readonly count: number;
  readonly title: string;
  readonly name?: string;
  /** The rows of the page. */
  readonly children: ComponentChildren;
}

/** What stands around a page of rows: the field, how many there are, the ways to other pages. */
export function PageFrame({ shown, count, title, name = "", children }: PageFrameProps) {
  const [findParameter, pageParameter] = [`${name}find`, `${name}page`];
  const find = parameter(findParameter) ?? "";
  const { page, pages, found } = shown ?? { page: 1, pages: 1, found: null };
  const hrefOfPage = (to: number) => (to < 1 || to > pages ? null : hrefHere({ [pageParameter]: String(to) }));
  const pager = pages > 1 && (
    <PageLinks
      before={hrefOfPage(page - 1)}
      after={hrefOfPage(page + 1)}
      words={{ before: partText.previous, after: partText.next }}
      of={title}
    >
      <span class="aside">{partText.page(page, pages)}</span>
    </PageLinks>
  );
  return (
    <>
      {(count >= FIND_FROM || find !== "") && (
        <p class="paged-tools">
          <label>
            <span class="unseen">{partText.findIn(title)}</span>
            <input
              type="search"
              value={find}
              placeholder={partText.findIn(title)}
              onInput={({ currentTarget: { value } }) =>
                go(hrefHere({ [findParameter]: value, [pageParameter]: null }), "replace")
              }
            />
          </label>
          <span class="aside" role="status">
            {find === "" && partText.number(count)}
            {find !== "" && found !== null && partText.foundOf(found, count)}
          </span>
          {pager}
        </p>
      )}
      {found === 0 && count > 0 ? <p>{partText.nothingFound}</p> : children}
      {pager !== false && <p class="paged-tools">{pager}</p>}
    </>
  );
}
