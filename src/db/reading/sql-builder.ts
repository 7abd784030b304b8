// Collector of bound values, used while building a statement's text.

import type { AsOf } from "./list-query.ts";

type Value = string | number;

/** ?1 is the sequence in every as-of statement. */
export class SqlBuilder {
  readonly values: Value[] = [];

  constructor(asOf: AsOf | null) {
    if (asOf !== null) this.values.push(asOf.sequence);
  }

  bind(value: Value): string {
    this.values.push(value);
    // The plus does not change the value. Without it SQLite plans for the bound value (a LIMIT; a column compared along
    // with an ORDER BY or join) and re-prepares the statement for every new value: up to a third of a page's time.
    return `+?${this.values.length}`;
  }
}
