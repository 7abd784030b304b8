// Rows of the comparison: written by netledger's own writer, and read from its ledger version by version for the
// others.

import { join } from "node:path";
import { openReadOnly } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { writtenSql } from "../../../src/db/packing.ts";
import { ifEntryKind } from "../../../src/resources/if-entries/if-entry.ts";
import { type BuiltStore, buildStore } from "../../benchmark/store.ts";
import type { Form } from "../part.ts";

/** A record's state between two timestamps. */
export interface Version {
  readonly id: string;
  /** RFC 3339. */
  readonly from: string;
  /** Timestamp of the next version; null for the current one. */
  readonly to: string | null;
  /** In wire format, including observations. */
  readonly record: Readonly<Record<string, unknown>>;
  /** Changed fields; null for the first version. */
  readonly changed: readonly string[] | null;
}

/** An entry for the updates. */
export interface Entry {
  readonly id: string;
  readonly if_index: number;
  readonly if_descr: string;
}

interface Depth {
  readonly versions: number;
  readonly hosts: number;
  readonly entries: number;
  readonly networkId: string;
}

export interface Rows {
  readonly store: BuiltStore;
  readonly depths: readonly Depth[];
  readonly entries: number;
  readonly versions: number;
  /** Timestamps at which every entry existed: RFC 3339, ascending. */
  readonly instants: readonly string[];
  /** Two timestamps with this many changes of entries in between. */
  readonly between: ReadonlyArray<{ readonly changes: number; readonly from: string; readonly to: string }>;
  /** Entries for the updates. */
  readonly some: readonly Entry[];
  /** All versions, those of a record together in chronological order. */
  all(): Iterable<Version>;
}

const ENTRIES_PER_HOST = 50;

/** Versions per entry, and number of hosts with these. */
const SIZES: Readonly<Record<Form, ReadonlyArray<readonly [versions: number, hosts: number]>>> = {
  long: [
    [2, 4_000],
    [20, 400],
    [200, 40],
  ],
  short: [
    [2, 30],
    [20, 8],
    [200, 2],
  ],
};

/** Approximate numbers of changed entries per diff. */
const DIFFS: Readonly<Record<Form, readonly number[]>> = { long: [1_000, 10_000], short: [500] };

const SOME = 1_000;
const INSTANTS = 1_009;

export async function makeRows(form: Form, directory: string, say: (line: string) => void): Promise<Rows> {
  const sizes = SIZES[form];
  const store = await buildStore(
    join(directory, "netledger"),
    sizes.map(([versions, hosts]) => ({
      network: String(versions),
      hosts,
      versions,
      entriesPerHost: ENTRIES_PER_HOST,
    })),
    say,
  );
  const db = openReadOnly(dataFiles(store.directory).database).$client;
  try {
    const born = db
      .query(
        `SELECT max(sequence) FROM history_transactions WHERE sequence IN (SELECT min(key & 2147483647)
          FROM history_versions GROUP BY key >> 31)`,
      )
      .values()[0]?.[0] as number;
    const at = db
      .query("SELECT at FROM history_transactions WHERE sequence >= ? ORDER BY sequence")
      .values(born)
      .map(([each]) => new Date(each as number).toISOString());
    const depths = sizes.map(([versions, hosts]) => ({
      versions,
      hosts,
      entries: hosts * ENTRIES_PER_HOST,
      networkId: store.networkIds[String(versions)] as string,
    }));
    const instantOf = (sequence: number) =>
      new Date(
        db.query("SELECT at FROM history_transactions WHERE sequence = ?").values(sequence)[0]?.[0] as number,
      ).toISOString();
    const some = db
      .query(
        `SELECT r.id, l.if_index, ('{' || l.members || '}') ->> '$.if_descr' FROM if_entries l
          JOIN history_records r ON r.n = l.n WHERE l.network_n = (SELECT n FROM history_records WHERE id = ?)
          ORDER BY l.n LIMIT ?`,
      )
      .values(depths[0]?.networkId as string, SOME);
    // The second version of the first of them.
    const change = db
      .query(
        `SELECT key & 2147483647 FROM history_versions
          WHERE key >= ((SELECT n FROM history_records WHERE id = ?) << 31) ORDER BY key LIMIT 1 OFFSET 1`,
      )
      .values(some[0]?.[0] as string)[0]?.[0] as number;
    return {
      store,
      depths,
      entries: depths.reduce((sum, { entries }) => sum + entries, 0),
      versions: depths.reduce((sum, { entries, versions }) => sum + entries * versions, 0),
      instants: Array.from(
        { length: Math.min(INSTANTS, at.length) },
        (_, i) => at[Math.floor((i * at.length) / Math.min(INSTANTS, at.length))] as string,
      ),
      // One transaction of the store is one host with its entries, and the hosts of the widest network change in
      // sequence.
      between: DIFFS[form].map((changes) => ({
        changes,
        from: instantOf(change - 1),
        to: instantOf(change - 1 + changes / ENTRIES_PER_HOST),
      })),
      some: some.map(([id, if_index, if_descr]) => ({ id, if_index, if_descr }) as Entry),
      all: () => versionsOf(store),
    };
  } finally {
    db.close();
  }
}

function* versionsOf(store: BuiltStore): Generator<Version> {
  const db = openReadOnly(dataFiles(store.directory).database).$client;
  try {
    const rows = db
      .query(
        `SELECT r.id, v.valid_from, v.changed, ${writtenSql("v", "members")} AS members,
          ${writtenSql("v", "observed")} AS observed, (SELECT x.valid_from FROM history_versions x
          WHERE x.key > v.key AND x.key < ((r.n + 1) << 31) ORDER BY x.key LIMIT 1) AS valid_to
         FROM history_records r CROSS JOIN history_versions v ON v.key >= (r.n << 31) AND v.key < ((r.n + 1) << 31)
           WHERE r.kind = ? ORDER BY v.key`,
      )
      .iterate(ifEntryKind.code) as Iterable<{
      id: string;
      valid_from: string;
      changed: string | null;
      members: string;
      observed: string;
      valid_to: string | null;
    }>;
    for (const { id, valid_from, changed, members, observed, valid_to } of rows) {
      yield {
        id,
        from: valid_from,
        to: valid_to,
        record: JSON.parse(`{${members}${observed}}`) as Record<string, unknown>,
        changed: changed === null ? null : (JSON.parse(changed) as string[]),
      };
    }
  } finally {
    db.close();
  }
}
