// Counts from which the weights of signs are computed, loaded once per scan. Stored outside the ledger; without them,
// the priors apply.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { SIGN_GROUPS, type SignGroup } from "../sightings.ts";
import type { Similarity } from "./identity.ts";
import type { SignCounts } from "./sign-weights.ts";

const signCounts = sqliteTable("discovery_sign_counts", {
  network_n: integer().notNull(),
  sign: text().notNull(),
  same: integer().notNull(),
  other: integer().notNull(),
  checksum: integer().notNull(),
});
const countRows = new KeyedRows(signCounts, ["network_n", "sign"]);

/** Number of scans whose counts are kept; several scans may run at once. */
const SCANS_MAX = 16;
const CACHE = new WeakMap<WriteTransaction["db"], Map<string, SignCounts>>();

/** Counts of a network, taken when a scan first needs them. */
export function countsAt({ db }: WriteTransaction, networkN: number, scanId: string): SignCounts {
  const key = `${networkN}/${scanId}`;
  const cached = CACHE.get(db) ?? new Map<string, SignCounts>();
  CACHE.set(db, cached);
  const known = cached.get(key);
  if (known !== undefined) return known;
  const [[hosts]] = db.$client.query(HOSTS).values(networkN) as [[number]];
  const reads = Object.fromEntries(
    SIGN_GROUPS.flatMap((sign) => {
      const row = countRows.find(db, networkN, sign);
      return row === undefined ? [] : [[sign, { same: row.same, other: row.other }]];
    }),
  );
  const counts = { hosts, reads };
  cached.set(key, counts);
  for (const oldest of cached.keys()) if (cached.size > SCANS_MAX) cached.delete(oldest);
  return counts;
}

/** Part of a scan's write that counting needs. */
interface CountingWrite {
  readonly tx: WriteTransaction;
  readonly networkId: string;
}

type Counted = Map<SignGroup, { same: number; other: number }>;

/** Per command, written once at its end. */
const COUNTED = new WeakMap<CountingWrite, Counted>();

/** Counts the signs of a host that stayed the same since the previous read. */
export function countRead(write: CountingWrite, { groups }: Similarity): void {
  const counted = COUNTED.get(write) ?? startCounting(write);
  for (const { group, common } of groups) add(counted, group, common.length > 0);
}

/** Counts a read of a host whose entire report stayed the same. */
export function countSameRead(write: CountingWrite, groups: readonly SignGroup[]): void {
  const counted = COUNTED.get(write) ?? startCounting(write);
  for (const group of groups) add(counted, group, true);
}

function add(counted: Counted, group: SignGroup, isSame: boolean): void {
  const count = counted.get(group) ?? { same: 0, other: 0 };
  counted.set(group, count);
  count[isSame ? "same" : "other"] += 1;
}

function startCounting(write: CountingWrite): Counted {
  const counted: Counted = new Map();
  COUNTED.set(write, counted);
  const { tx, networkId } = write;
  tx.runAfterWrite(() => {
    const network_n = tx.recordN(networkId) as number;
    for (const [sign, { same, other }] of counted) {
      const before = countRows.find(tx.db, network_n, sign);
      const now = { same: (before?.same ?? 0) + same, other: (before?.other ?? 0) + other };
      countRows.upsert(tx.db, withChecksum(signCounts, { network_n, sign, ...now }));
    }
  });
  return counted;
}

const HOSTS = "SELECT count(*) FROM hosts WHERE network_n = ?1";
