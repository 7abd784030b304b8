// Paged table with a search in all rows. The URL holds page and search text; switching tabs resets them.

import type { ComponentChildren } from "preact";
import { groupedDigits } from "../text/digits.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type PageOfRows, pageOfRows, SEARCH_ROWS_MIN } from "./paged-rows.ts";
import { PageLinks } from "./pager.tsx";

interface PagedProps<Row> {
  readonly rows: readonly Row[];
  /** Name of the rows, for the label of the search field. */
  readonly title: string;
  /** Searchable text of a row. */
  readonly textOf: (row: Row) => string;
  /** Identifies the row whose page is shown by default. */
  readonly isSelected?: (row: Row) => boolean;
  /** Prefix of URL parameters, for pages with several tables. */
  readonly name?: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

export function Paged<Row>({ rows: allRows, title, textOf, isSelected, name = "", children }: PagedProps<Row>) {
  const [findParameter, pageParameter] = [`${name}find`, `${name}page`];
  const find = parameter(findParameter) ?? "";
  const shown = pageOfRows(allRows, { page: parameter(pageParameter), find, textOf, isSelected });
  return (
    <PageFrame shown={shown} count={allRows.length} title={title} name={name}>
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

const searchLabel = (title: string) => `Filter: ${title}`;

/** Frame around a page of rows: search field, count, and links to other pages. */
export function PageFrame({ shown, count, title, name = "", children }: PageFrameProps) {
  const [findParameter, pageParameter] = [`${name}find`, `${name}page`];
  const find = parameter(findParameter) ?? "";
  const { page, pages, found } = shown ?? { page: 1, pages: 1, found: null };
  const hrefOfPage = (to: number) => (to < 1 || to > pages ? null : hrefHere({ [pageParameter]: String(to) }));
  const pager = pages > 1 && (
    <PageLinks
      previous={hrefOfPage(page - 1)}
      next={hrefOfPage(page + 1)}
      labels={{ previous: "Previous", next: "Next" }}
      title={title}
    >
      <span class="aside">
        Page {groupedDigits(page)} of {groupedDigits(pages)}
      </span>
    </PageLinks>
  );
  return (
    <>
      {(count >= SEARCH_ROWS_MIN || find !== "") && (
        <p class="paged-tools">
          <label>
            <span class="visually-hidden">{searchLabel(title)}</span>
            <input
              type="search"
              value={find}
              placeholder={searchLabel(title)}
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
