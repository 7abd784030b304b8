// Which of many rows are shown: those in which something is found, page by page. Plain functions.

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
  const shown = Number.isInteger(asked) ? Math.min(pages, Math.max(1, asked)) : 1;
  return { rows: found.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages, found: found.length };
}
