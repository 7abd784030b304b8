// Lookup of the appliance's own host, if recorded.

import { eq } from "drizzle-orm";
import { applianceSettings } from "../../access/tables.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { survivorOf } from "../../resources/consolidations/consolidation.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";

export function selfHostSetting(networkId: string): string {
  return `self_host/${networkId}`;
}

/** Returns null if the appliance has not recorded itself or the host was deleted. */
export function selfHost(tx: WriteTransaction, networkId: string): HostRecord | null {
  const row = tx.db
    .select({ value: applianceSettings.value })
    .from(applianceSettings)
    .where(eq(applianceSettings.name, selfHostSetting(networkId)))
    .limit(1)
    .all()[0];
  const id = row === undefined ? null : survivorOf(tx, row.value);
  return id === null ? null : tx.find(hostKind, id);
}
