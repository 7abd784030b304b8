// Termination of a paged list, whatever the server says about further pages: at the count of the first page. Must not
// request pages.

import { RemoteTrouble } from "./json-client.ts";

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
  private idsBefore: ReadonlySet<string | number> = new Set();
  private stated: number | null = null;
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
  get isWhole(): boolean {
    return this.stated !== null && this.received >= this.stated;
  }

  /**
   * Returns the rows of the next page, without those that also ended the previous page, as happens when rows are added
   * meanwhile.
   * @throws RemoteTrouble for a repeated page, a row of an earlier page, or more rows than allowed
   */
  take({ rows, count }: ListPage<Row>): Row[] {
    this.stated ??= count;
    if (this.stated > this.limits.rows)
      throw new RemoteTrouble(`${this.url} has more than ${this.limits.rows} objects`);
    if (rows.length > this.limits.pageRows)
      throw new RemoteTrouble(`${this.url} answers ${rows.length} objects; ${this.limits.pageRows} were requested`);
    this.received += rows.length;
    const ids = new Set<string | number>();
    const fresh = rows.filter((row) => {
      const id = this.idOf(row);
      if (id === null) return true;
      ids.add(id);
      if (!this.ids.has(id)) return this.ids.add(id);
      if (!this.idsBefore.has(id)) throw new RemoteTrouble(`${this.url} lists the object ${id} twice`);
      return false;
    });
    if (rows.length > 0 && fresh.length === 0) throw new RemoteTrouble(`${this.url} returns the same page again`);
    this.idsBefore = ids;
    return fresh;
  }
}
