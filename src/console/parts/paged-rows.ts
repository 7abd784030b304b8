// Paging and search of table rows, either all loaded or requested by page. Pure.

/** Enough to search visually, and few enough to render without stutter. */
export const PAGE_ROWS = 100;

/** Shorter tables have no search field. */
export const FIND_FROM = 20;

/** Visible part of a table. */
export interface PageOfRows<Row> {
  readonly rows: readonly Row[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** Number of rows that match the search. */
  readonly found: number;
}

export interface RowsAsked<Row> {
  /** From 1, as in the URL; null for the page of the chosen row, or the first. */
  readonly page: string | null;
  /** Blank for all. Words in any order, case-insensitive. */
  readonly find: string;
  readonly textOf: (row: Row) => string;
  readonly isChosen?: ((row: Row) => boolean) | undefined;
}

/** A page of rows; the last one if beyond the end. */
export function pageOfRows<Row>(
  all: readonly Row[],
  { page, find, textOf, isChosen }: RowsAsked<Row>,
): PageOfRows<Row> {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? all
      : all.filter((row) => {
          const text = textOf(row).toLowerCase();
          return words.every((word) => text.includes(word));
        });
  const pages = Math.max(1, Math.ceil(found.length / PAGE_ROWS));
  const chosen = isChosen === undefined || page !== null ? -1 : found.findIndex(isChosen);
  const asked = chosen >= 0 ? Math.floor(chosen / PAGE_ROWS) + 1 : Number(page ?? 1);
  const shown = pageWithin(asked, pages);
  return { rows: found.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages, found: found.length };
}

function pageWithin(asked: number, pages: number): number {
  return Number.isInteger(asked) ? Math.min(pages, Math.max(1, asked)) : 1;
}

/** Range of rows to request. */
export interface RowWindow {
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

/**
 * One page; all rows for a search over more than one page.
 * @param count number of rows in the API; undefined while unknown
 */
export function windowToRead(
  count: number | undefined,
  { page, find }: Pick<RowsAsked<unknown>, "page" | "find">,
): RowWindow {
  if (find.trim() !== "" && (count ?? PAGE_ROWS + 1) > PAGE_ROWS) return { limit: 0, offset: 0 };
  const pages = count === undefined ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.ceil(count / PAGE_ROWS));
  return { limit: PAGE_ROWS, offset: (pageWithin(Number(page ?? 1), pages) - 1) * PAGE_ROWS };
}

/** Rows read from the API. */
export interface RowsRead<Row> {
  /** One page, or all. */
  readonly rows: readonly Row[];
  /** Total in the API. */
  readonly count: number;
  /** Additional rows after all others. */
  readonly behind: readonly Row[];
}

/** Visible page of the rows read; null while the rows for a search are loading. */
export function pageOfRead<Row>({ rows, count, behind }: RowsRead<Row>, asked: RowsAsked<Row>): PageOfRows<Row> | null {
  if (rows.length === count) return pageOfRows([...rows, ...behind], asked);
  if (asked.find.trim() !== "") return null;
  const found = count + behind.length;
  const pages = Math.ceil(found / PAGE_ROWS);
  const page = pageWithin(Number(asked.page ?? 1), pages);
  const offset = (page - 1) * PAGE_ROWS;
  const read = offset < count ? rows : [];
  const start = Math.max(0, offset - count);
  return { rows: [...read, ...behind.slice(start, start + PAGE_ROWS - read.length)], page, pages, found };
}
