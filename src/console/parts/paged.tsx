// Paged table with a search over all rows. Page and search text are in the URL; other tabs reset them.

import type { ComponentChildren } from "preact";
import { groupedDigits } from "../text/digits.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { FIND_FROM, type PageOfRows, pageOfRows } from "./paged-rows.ts";
import { PageLinks } from "./pager.tsx";

interface PagedProps<Row> {
  readonly rows: readonly Row[];
  /** Row type, for the search field. */
  readonly title: string;
  /** Searchable text of a row. */
  readonly textOf: (row: Row) => string;
  /** Row whose page is shown by default. */
  readonly isChosen?: (row: Row) => boolean;
  /** Prefix of URL parameters, for pages with several tables. */
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
  /** Null while the result of a search is unknown. */
  readonly shown: Omit<PageOfRows<unknown>, "rows"> | null;
  /** Number of rows. */
  readonly count: number;
  readonly title: string;
  readonly name?: string;
  /** Rows of the page. */
  readonly children: ComponentChildren;
}

const findIn = (title: string) => `Filter: ${title}`;

/** Frame of a page of rows: search field, count, and links to other pages. */
export function PageFrame({ shown, count, title, name = "", children }: PageFrameProps) {
  const [findParameter, pageParameter] = [`${name}find`, `${name}page`];
  const find = parameter(findParameter) ?? "";
  const { page, pages, found } = shown ?? { page: 1, pages: 1, found: null };
  const hrefOfPage = (to: number) => (to < 1 || to > pages ? null : hrefHere({ [pageParameter]: String(to) }));
  const pager = pages > 1 && (
    <PageLinks
      before={hrefOfPage(page - 1)}
      after={hrefOfPage(page + 1)}
      words={{ before: "Previous", after: "Next" }}
      of={title}
    >
      <span class="aside">
        Page {groupedDigits(page)} of {groupedDigits(pages)}
      </span>
    </PageLinks>
  );
  return (
    <>
      {(count >= FIND_FROM || find !== "") && (
        <p class="paged-tools">
          <label>
            <span class="unseen">{findIn(title)}</span>
            <input
              type="search"
              value={find}
              placeholder={findIn(title)}
              onInput={({ currentTarget: { value } }) =>
                go(hrefHere({ [findParameter]: value, [pageParameter]: null }), "replace")
              }
            />
          </label>
          <span class="aside" role="status">
            {find === "" && groupedDigits(count)}
            {find !== "" && found !== null && `${groupedDigits(found)} of ${groupedDigits(count)}`}
          </span>
          {pager}
        </p>
      )}
      {found === 0 && count > 0 ? <p>No matches.</p> : children}
      {pager !== false && <p class="paged-tools">{pager}</p>}
    </>
  );
}
