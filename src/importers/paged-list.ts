// The end of a list that comes page by page, whatever its server says of further pages: at the count that it states
// first. Must not ask for pages.

import { RemoteTrouble } from "./json-client.ts";

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** What the list has in all, as the page says. */
  readonly count: number;
}

export interface PagedListLimits {
  /** Rows of one page, as they are asked for. */
  readonly pageRows: number;
  /** Rows of the whole list. */
  readonly rows: number;
}

export class PagedList<Row> {
  private readonly url: string;
  private readonly limits: PagedListLimits;
  private readonly idOf: (row: Row) => string | number | null;
  private readonly ids = new Set<string | number>();
  /** Ids of the page before. */
  private idsBefore: ReadonlySet<string | number> = new Set();
  private stated: number | null = null;
  private received = 0;

  /**
   * @param url of the list, as people are told
   * @param idOf null for a row without an id, of which a repetition cannot be told
   */
  constructor(url: string, limits: PagedListLimits, idOf: (row: Row) => string | number | null) {
    this.url = url;
    this.limits = limits;
    this.idOf = idOf;
  }

  /** How many rows came, and so where the next page begins. */
  get offset(): number {
    return this.received;
  }

  /** Whether the count of the first page is reached: rows that are made meanwhile are the next run's. */
  get isWhole(): boolean {
    return this.stated !== null && this.received >= this.stated;
  }

  /**
   * The rows of the next page, without those that the page before ended with: so it is where something is made meanwhile.
   * @throws RemoteTrouble for a page that comes again, a row of an earlier page, and more rows than agreed
   */
  take({ rows, count }: ListPage<Row>): Row[] {
    this.stated ??= count;
    if (this.stated > this.limits.rows)
      throw new RemoteTrouble(`${this.url} has more than ${this.limits.rows} objects`);
    if (rows.length > this.limits.pageRows)
      throw new RemoteTrouble(`${this.url} answers ${rows.length} objects and was asked for ${this.limits.pageRows}`);
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
    if (rows.length > 0 && fresh.length === 0) throw new RemoteTrouble(`${this.url} answers the same page again`);
    this.idsBefore = ids;
    return fresh;
  }
}
