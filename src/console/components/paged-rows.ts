// Paging and searching of table rows, either all loaded or requested page by page. Pure.

/** Rows per page: enough to scan visually, and few enough to render without stutter. */
export const PAGE_ROWS = 100;

/** Minimum number of rows for a search field. */
export const SEARCH_ROWS_MIN = 20;

/** Visible part of a table. */
export interface PageOfRows<Row> {
  readonly rows: readonly Row[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** Number of rows that match the search. */
  readonly found: number;
}

export interface RowsRequest<Row> {
  /** From 1, as in the URL; null for the page of the selected row, or the first. */
  readonly page: string | null;
  /** Words in any order, case-insensitive; empty for all rows. */
  readonly find: string;
  readonly textOf: (row: Row) => string;
  readonly isSelected?: ((row: Row) => boolean) | undefined;
}

/** A page of rows; the last page if the requested one is beyond the end. */
export function pageOfRows<Row>(
  all: readonly Row[],
  { page, find, textOf, isSelected }: RowsRequest<Row>,
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
  const selectedIndex = isSelected === undefined || page !== null ? -1 : found.findIndex(isSelected);
  const requested = selectedIndex >= 0 ? Math.floor(selectedIndex / PAGE_ROWS) + 1 : Number(page ?? 1);
  const shown = clampPage(requested, pages);
  return { rows: found.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages, found: found.length };
}

function clampPage(requested: number, pages: number): number {
  return Number.isInteger(requested) ? Math.min(pages, Math.max(1, requested)) : 1;
}

/** Range of rows to request. */
export interface RowWindow {
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

/** Rows of one page; all rows for a search in several. @param count rows in the API; undefined while unknown */
export function windowToRead(
  count: number | undefined,
  { page, find }: Pick<RowsRequest<unknown>, "page" | "find">,
): RowWindow {
  if (find.trim() !== "" && (count ?? PAGE_ROWS + 1) > PAGE_ROWS) return { limit: 0, offset: 0 };
  const pages = count === undefined ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.ceil(count / PAGE_ROWS));
  return { limit: PAGE_ROWS, offset: (clampPage(Number(page ?? 1), pages) - 1) * PAGE_ROWS };
}

/** Rows read from the API. */
export interface RowsRead<Row> {
  /** One page, or all. */
  readonly rows: readonly Row[];
  /** Total number of rows in the API. */
  readonly count: number;
  /** Rows from elsewhere, shown after all others. */
  readonly trailing: readonly Row[];
}

/** Visible page of rows read from the API; null while the rows for a search are loading. */
export function pageOfRead<Row>(
  { rows, count, trailing }: RowsRead<Row>,
  requested: RowsRequest<Row>,
): PageOfRows<Row> | null {
  if (rows.length === count) return pageOfRows([...rows, ...trailing], requested);
  if (requested.find.trim() !== "") return null;
  const found = count + trailing.length;
  const pages = Math.ceil(found / PAGE_ROWS);
  const page = clampPage(Number(requested.page ?? 1), pages);
  const offset = (page - 1) * PAGE_ROWS;
  const loadedRows = offset < count ? rows : [];
  const start = Math.max(0, offset - count);
  return { rows: [...loadedRows, ...trailing.slice(start, start + PAGE_ROWS - loadedRows.length)], page, pages, found };
}
