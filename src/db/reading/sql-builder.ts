// Collects the values of a statement while its text is put together.

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
    // The plus changes no value. Without it SQLite plans for the value (a LIMIT; a column that is compared, beside an
    // ORDER BY or a join) and prepares the statement again whenever another one is bound: up to a third of a page's
    // time.
    return `+?${this.values.length}`;
  }
}
