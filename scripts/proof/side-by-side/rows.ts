// Rows for the comparison, written by netledger's own writer, and read from its ledger version by version for the other
// products.

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
  /** Timestamp as in RFC 3339. */
  readonly from: string;
  /** Timestamp of the next version; null for the current one. */
  readonly to: string | null;
  /** Record in wire format, including observations. */
  readonly record: Readonly<Record<string, unknown>>;
  /** Changed fields; null for the first version. */
  readonly changed: readonly string[] | null;
}

/** Entry that updates change. */
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
  /** Pairs of timestamps with this many changed entries in between. */
  readonly between: ReadonlyArray<{ readonly changes: number; readonly from: string; readonly to: string }>;
  /** Entries that updates change. */
  readonly samples: readonly Entry[];
  /** Iterates over all versions; those of a record are together and in chronological order. */
  all(): Iterable<Version>;
}

const ENTRIES_PER_HOST = 50;

/** Networks by form: number of versions per entry, and number of hosts. */
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

const SAMPLE_COUNT = 1_000;
const INSTANTS = 1_009;

export async function buildRows(form: Form, directory: string, say: (line: string) => void): Promise<Rows> {
  const sizes = SIZES[form];
  const populations = sizes.map(([versions, hosts]) => {
    return { network: String(versions), hosts, versions, entriesPerHost: ENTRIES_PER_HOST };
  });
  const store = await buildStore(join(directory, "netledger"), populations, say);
  const db = openReadOnly(dataFiles(store.directory).database).$client;
  try {
    const numberOf = (sql: string, ...values: (string | number)[]) => db.query(sql).values(...values)[0]?.[0] as number;
    const firstSequence = numberOf(
      `SELECT max(sequence) FROM history_transactions WHERE sequence IN (SELECT min(key & 2147483647)
        FROM history_versions GROUP BY key >> 31)`,
    );
    const instants = db
      .query("SELECT at FROM history_transactions WHERE sequence >= ? ORDER BY sequence")
      .values(firstSequence)
      .map(([at]) => new Date(at as number).toISOString());
    const depths = sizes.map(([versions, hosts]) => ({
      versions,
      hosts,
      entries: hosts * ENTRIES_PER_HOST,
      networkId: store.networkIds[String(versions)] as string,
    }));
    const instantOf = (sequence: number) =>
      new Date(numberOf("SELECT at FROM history_transactions WHERE sequence = ?", sequence)).toISOString();
    const samples = db
      .query(
        `SELECT r.id, l.if_index, ('{' || l.members || '}') ->> '$.if_descr' FROM if_entries l
          JOIN history_records r ON r.n = l.n WHERE l.network_n = (SELECT n FROM history_records WHERE id = ?)
          ORDER BY l.n LIMIT ?`,
      )
      .values(depths[0]?.networkId as string, SAMPLE_COUNT);
    const length = Math.min(INSTANTS, instants.length);
    // Sequence of the second version of the first sample.
    const change = numberOf(
      `SELECT key & 2147483647 FROM history_versions
        WHERE key >= ((SELECT n FROM history_records WHERE id = ?) << 31) ORDER BY key LIMIT 1 OFFSET 1`,
      samples[0]?.[0] as string,
    );
    return {
      store,
      depths,
      entries: depths.reduce((sum, { entries }) => sum + entries, 0),
      versions: depths.reduce((sum, { entries, versions }) => sum + entries * versions, 0),
      instants: Array.from({ length }, (_, i) => instants[Math.floor((i * instants.length) / length)] as string),
      // Each transaction of the store changes one host with its entries, and the hosts of the widest network change one
      // after another.
      between: DIFFS[form].map((changes) => ({
        changes,
        from: instantOf(change - 1),
        to: instantOf(change - 1 + changes / ENTRIES_PER_HOST),
      })),
      samples: samples.map(([id, if_index, if_descr]) => ({ id, if_index, if_descr }) as Entry),
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
