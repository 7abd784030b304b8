// Live columns with the record numbers of containers and references.

import { integer, type SQLiteColumn } from "drizzle-orm/sqlite-core";

/** @param target number column of the other kind's table */
export function requiredReference(target: () => SQLiteColumn) {
  return integer().notNull().references(target);
}
