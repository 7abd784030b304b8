// Last working credential of each address. An observation, stored outside the ledger.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WorkingCredential } from "../sightings.ts";
import type { ScanWrite } from "./scan-write.ts";

const workingCredentials = sqliteTable("discovery_credentials", {
  network_n: integer().notNull(),
  ip_address: text().notNull(),
  credential_n: integer().notNull(),
  key_extension: text().$type<"Blumenthal" | "Reeder">(),
  checksum: integer().notNull(),
});
const workingRows = new KeyedRows(workingCredentials, ["network_n", "ip_address"]);

export function rememberCredential(write: ScanWrite, address: string, credential: WorkingCredential | null): void {
  const { tx, networkId } = write;
  if (credential === null) return;
  const credentialN = tx.recordN(credential.credential_id);
  const networkN = tx.recordN(networkId);
  if (credentialN === null || networkN === null) return;
  const { key_extension } = credential;
  const row = withChecksum(workingCredentials, {
    network_n: networkN,
    ip_address: address,
    credential_n: credentialN,
    key_extension,
  });
  const present = workingRows.find(tx.db, networkN, address);
  if (present !== undefined && Bun.deepEquals(present, row)) return;
  tx.runAfterWrite(() => workingRows.upsert(tx.db, row));
}
