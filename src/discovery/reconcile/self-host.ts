// Which host of a network is the machine that the appliance runs on, where it has recorded itself.

import { eq } from "drizzle-orm";
import { applianceSettings } from "../../access/tables.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";

/** The name of the setting that holds its id. */
export function selfHostSetting(networkId: string): string {
  return `self_host/${networkId}`;
}

/** Null where it has not recorded itself, and where that host is gone. */
export function selfHost(tx: WriteTransaction, networkId: string): HostRecord | null {
  const row = tx.db
    .select({ value: applianceSettings.value })
    .from(applianceSettings)
    .where(eq(applianceSettings.name, selfHostSetting(networkId)))
    .limit(1)
    .all()[0];
  return row === undefined ? null : tx.find(hostKind, row.value);
}
