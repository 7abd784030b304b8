// Networks that a caller can access, as of a transaction.

import { scopeKey } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { networkKind } from "../resources/networks/network.ts";

/** Record numbers of the networks live at that time. */
export function networksAt(connection: Pick<ReadConnection, "statement">, reach: Reach, sequence: number): number[] {
  const rows = connection
    .statement(
      `SELECT n FROM history_spans WHERE scope = +?1 AND born <= +?2 AND died > +?2
        AND (+?3 IS NULL OR n IN (SELECT value FROM json_each(+?3)))`,
    )
    .values(
      scopeKey(reach.organizationN, networkKind),
      sequence,
      reach.networkNs === null ? null : JSON.stringify(reach.networkNs),
    );
  return (rows as Array<[number]>).map(([n]) => n);
}
