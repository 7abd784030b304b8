// Paged list that ends at the count of the first page, regardless of what the server reports later. Does not request
// pages itself.

import { RemoteError } from "./json-client.ts";

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Total rows of the list, according to the page. */
  readonly count: number;
}

export interface PagedListLimits {
  /** Rows requested per page. */
  readonly pageRows: number;
  /** Maximum rows of the whole list. */
  readonly rows: number;
}

export class PagedList<Row> {
  private readonly url: string;
  private readonly limits: PagedListLimits;
  private readonly idOf: (row: Row) => string | number | null;
  private readonly ids = new Set<string | number>();
  /** IDs of the previous page. */
  private previousIds: ReadonlySet<string | number> = new Set();
  private total: number | null = null;
  private received = 0;

  /**
   * @param url user-visible URL of the list
   * @param idOf returns null for a row without an ID, for which repeats cannot be detected
   */
  constructor(url: string, limits: PagedListLimits, idOf: (row: Row) => string | number | null) {
    this.url = url;
    this.limits = limits;
    this.idOf = idOf;
  }

  /** Number of rows received, and so the offset of the next page. */
  get offset(): number {
    return this.received;
  }

  /** True once the first page's count is reached: rows added since are left to the next run. */
  get isComplete(): boolean {
    return this.total !== null && this.received >= this.total;
  }

  /**
   * Returns the rows of the next page, without those that also ended the previous page, as happens when rows are
   * added in the meantime.
   * @throws RemoteError for a repeated page, a row of an earlier page, or more rows than allowed
   */
  take({ rows, count }: ListPage<Row>): Row[] {
    this.total ??= count;
    if (this.total > this.limits.rows) throw new RemoteError(`${this.url} has more than ${this.limits.rows} objects`);
    if (rows.length > this.limits.pageRows)
      throw new RemoteError(`${this.url} returns ${rows.length} objects; ${this.limits.pageRows} were requested`);
    this.received += rows.length;
    const ids = new Set<string | number>();
    const newRows = rows.filter((row) => {
      const id = this.idOf(row);
      if (id === null) return true;
      ids.add(id);
      if (!this.ids.has(id)) return this.ids.add(id);
      if (!this.previousIds.has(id)) throw new RemoteError(`${this.url} lists the object ${id} twice`);
      return false;
    });
    if (rows.length > 0 && newRows.length === 0) throw new RemoteError(`${this.url} returns the same page again`);
    this.previousIds = ids;
    return newRows;
  }
}
