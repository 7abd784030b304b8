// VLAN names. Devices may name a VLAN differently: the network uses the name that most of them report, regardless of
// the order of responses. Stored outside the ledger by device; without it, names do not change.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { compareCodePoints } from "../../base/text.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { type VlanRecord, vlanKind } from "../../resources/vlans/vlan.ts";
import { isSetByUser } from "./provenance.ts";
import type { ScanWrite } from "./scan-write.ts";

const vlanNames = sqliteTable("discovery_vlan_names", {
  host_n: integer().primaryKey(),
  names: text().notNull(),
  checksum: integer().notNull(),
});
const nameRows = new KeyedRows(vlanNames, ["host_n"]);

/** Names by VLAN number. */
export type VlanNames = Readonly<Record<string, string>>;

/** By host: names of this transaction, stored at its end except in a dry run. */
const PENDING = new WeakMap<WriteTransaction, Map<string, VlanNames>>();

/** Names in the last report of the host's device. */
export function namesOfHost({ tx }: ScanWrite, hostId: string): VlanNames {
  const pending = PENDING.get(tx)?.get(hostId);
  if (pending !== undefined) return pending;
  const hostN = tx.recordN(hostId);
  const row = hostN === null || hostN === 0 ? undefined : nameRows.find(tx.db, hostN);
  return row === undefined ? {} : (JSON.parse(row.names) as VlanNames);
}

export function rememberNames({ tx }: ScanWrite, hostId: string, names: VlanNames): void {
  const pending = PENDING.get(tx) ?? new Map<string, VlanNames>();
  PENDING.set(tx, pending.set(hostId, names));
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId) as number;
    nameRows.upsert(tx.db, withChecksum(vlanNames, { host_n, names: JSON.stringify(names) }));
  });
}

/** Gives VLANs the names that most of the network's devices report, unless a user named them. */
export function nameVlans({ tx, networkId }: ScanWrite, vlans: readonly VlanRecord[]): void {
  if (vlans.length === 0) return;
  const numbers = JSON.stringify(vlans.map(({ number }) => `${number}`));
  const pending = [...(PENDING.get(tx) ?? [])];
  const written = JSON.stringify(pending.flatMap(([hostId]) => tx.recordN(hostId) ?? []));
  const rows = tx.db.$client.query(REPORTED).values(tx.recordN(networkId) ?? 0, numbers, written) as Array<
    [number: string, name: string, count: number]
  >;
  const counts = new Map(vlans.map(({ number }) => [`${number}`, new Map<string, number>()]));
  const add = (number: string, name: string, count: number) => {
    const names = counts.get(number);
    names?.set(name, (names.get(name) ?? 0) + count);
  };
  for (const row of rows) add(...row);
  for (const [, names] of pending) for (const [number, name] of Object.entries(names)) add(number, name, 1);
  for (const { id, number, name } of vlans) {
    const best = bestName(number, counts.get(`${number}`) ?? new Map());
    if (best !== null && best !== name && !isSetByUser(tx, id, "name")) tx.update(vlanKind, id, { name: best });
  }
}

/**
 * The name that most devices report; on a tie, the first in alphabetical order. A default name that only repeats the
 * number is used if there is no other. Pure.
 * @param counts devices by reported name
 * @returns null if there is none
 */
export function bestName(number: number, counts: ReadonlyMap<string, number>): string | null {
  const isDefault = new RegExp(`^(vlan)?[ _-]*0*${number}$`, "i");
  const [best] = [...counts].sort(
    ([a, countOfA], [b, countOfB]) =>
      Number(isDefault.test(a)) - Number(isDefault.test(b)) || countOfB - countOfA || compareCodePoints(a, b),
  );
  return best?.[0] ?? null;
}

const REPORTED = `SELECT j.key, j.value, count(*) FROM hosts h JOIN discovery_vlan_names v ON v.host_n = h.n, json_each(v.names) j
  WHERE h.network_n = ?1 AND j.key IN (SELECT value FROM json_each(?2)) AND h.n NOT IN (SELECT value FROM json_each(?3))
  GROUP BY 1, 2`;
