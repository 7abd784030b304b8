// Which of many rows are shown: those in which something is found, page by page; of rows that are all there, or of which
// the API is asked for a page. Plain functions.

/** As many as are drawn at once without a stutter, and looked through without losing one's place. */
export const PAGE_ROWS = 100;

/** Fewer are seen at a glance: nobody searches them. */
export const FIND_FROM = 20;

/** What is shown of a table. */
export interface PageOfRows<Row> {
  readonly rows: readonly Row[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** How many are left by what is searched for. */
  readonly found: number;
}

export interface RowsAsked<Row> {
  /** From 1, as the address has it; null for the page of `chosen`, or the first one. */
  readonly page: string | null;
  /** Blank for all. Words in any order, in any case. */
  readonly find: string;
  readonly textOf: (row: Row) => string;
  readonly isChosen?: ((row: Row) => boolean) | undefined;
}

/** A page of rows; of what is beyond the last page, that one. */
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

/** Which rows to ask the API for. */
export interface RowWindow {
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

/**
 * A page; all rows where something is searched in more than one of them.
 * @param count how many rows the API has; undefined while that is not known
 */
export function windowToRead(
  count: number | undefined,
  { page, find }: Pick<RowsAsked<unknown>, "page" | "find">,
): RowWindow {
  if (find.trim() !== "" && (count ?? PAGE_ROWS + 1) > PAGE_ROWS) return { limit: 0, offset: 0 };
  const pages = count === undefined ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.ceil(count / PAGE_ROWS));
  return { limit: PAGE_ROWS, offset: (pageWithin(Number(page ?? 1), pages) - 1) * PAGE_ROWS };
}

/** What was read of the rows. */
export interface RowsRead<Row> {
  /** A page of them, or all. */
  readonly rows: readonly Row[];
  /** How many the API has. */
  readonly count: number;
  /** Those that stand behind all of them. */
  readonly behind: readonly Row[];
}

/** The page that is shown of rows that were read; null where those in which something is searched are not there yet. */
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
