// Which credential opened an address the last time. Beside the ledger: it is an observation.

import { and, eq, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { WorkingCredential } from "../sightings.ts";
import type { ScanWrite } from "./scan-write.ts";

export const workingCredentials = sqliteTable("discovery_credentials", {
  network_n: integer().notNull(),
  ip_address: text().notNull(),
  credential_n: integer().notNull(),
  key_extension: text().$type<"Blumenthal" | "Reeder">(),
});

/** Keeps the credential that worked at an address. */
export function rememberCredential(write: ScanWrite, address: string, credential: WorkingCredential | null): void {
  const { tx, networkId } = write;
  if (credential === null) return;
  const credentialN = tx.recordN(credential.credential_id);
  const networkN = tx.recordN(networkId);
  if (credentialN === null || networkN === null) return;
  const row = { network_n: networkN, ip_address: address, credential_n: credentialN, key_extension: credential.key_extension };
  const present = tx.db
    .select()
    .from(workingCredentials)
    .where(and(eq(workingCredentials.network_n, networkN), eq(workingCredentials.ip_address, address)))
    .limit(1)
    .all()[0];
  if (present !== undefined && Bun.deepEquals(present, row)) return;
  tx.afterwardsRun(() => {
    tx.db
      .insert(workingCredentials)
      .values(row)
      .onConflictDoUpdate({ target: [workingCredentials.network_n, workingCredentials.ip_address], set: { credential_n: sql`excluded.credential_n`, key_extension: sql`excluded.key_extension` } })
      .run();
  });
}
