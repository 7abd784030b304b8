// Page locations of b-trees in an SQLite file, read from the file itself to select pages for damage. Format:
// https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6.

import { Database } from "bun:sqlite";

const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;
const FIRST_HEADER_BYTES = 100;

export class DatabasePages {
  readonly bytes: Buffer;
  readonly pageBytes: number;
  private readonly roots: ReadonlyMap<string, number>;

  /** @param path database at rest, without a log */
  constructor(path: string, bytes: Buffer) {
    this.bytes = bytes;
    this.pageBytes = bytes.readUInt16BE(16);
    const db = new Database(path, { readonly: true });
    try {
      this.roots = new Map(
        db.query("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0").values() as Array<[string, number]>,
      );
    } finally {
      db.close();
    }
  }

  /** Byte offset of a page. Pages are numbered from 1. */
  offset(page: number): number {
    return (page - 1) * this.pageBytes;
  }

  /** Finds a leaf page in the middle of a table or an index. */
  leaf(name: string): number {
    let page = this.root(name);
    for (;;) {
      const header = this.offset(page) + (page === 1 ? FIRST_HEADER_BYTES : 0);
      const type = this.bytes[header];
      if (type !== INTERIOR_INDEX && type !== INTERIOR_TABLE) return page;
      const cells = this.bytes.readUInt16BE(header + 3);
      const cell = this.bytes.readUInt16BE(header + 12 + 2 * Math.floor(cells / 2));
      page = this.bytes.readUInt32BE(this.offset(page) + cell);
    }
  }

  root(name: string): number {
    const root = this.roots.get(name);
    if (root === undefined) throw new Error(`there is no table or index ${name}`);
    return root;
  }

  /** Used byte ranges [start, end), page by page; an entire page if it belongs to no b-tree. */
  usedRanges(): Array<readonly [start: number, end: number]> {
    const ranges: Array<readonly [number, number]> = [[0, FIRST_HEADER_BYTES]];
    for (let page = 1; this.offset(page) < this.bytes.length; page += 1) {
      const start = this.offset(page);
      const header = start + (page === 1 ? FIRST_HEADER_BYTES : 0);
      const type = this.bytes[header] as number;
      const isInterior = type === INTERIOR_INDEX || type === INTERIOR_TABLE;
      if (!isInterior && type !== LEAF_INDEX && type !== LEAF_TABLE) {
        ranges.push([start, start + this.pageBytes]);
        continue;
      }
      const cells = this.bytes.readUInt16BE(header + 3);
      const content = this.bytes.readUInt16BE(header + 5) || this.pageBytes;
      ranges.push([header, header + (isInterior ? 12 : 8) + 2 * cells]);
      if (content < this.pageBytes) ranges.push([start + content, start + this.pageBytes]);
    }
    return ranges;
  }

  /** First page of the freelist; 0 if empty. */
  get freeTrunk(): number {
    return this.bytes.readUInt32BE(32);
  }
}
