// Version packing in the ledger, and unpacking of versions whose base is about to be dropped. Requires an offline store
// without guards. The content of versions, and thus the hash chain, stays the same.

import type { Sql } from "../db/connection.ts";
import { OPERATION } from "../db/kind.ts";
import {
  type BaseVersion,
  baseSequenceSql,
  type PackedTexts,
  packVersion,
  VERSIONS_PER_BASE,
  type VersionTexts,
  writtenSql,
} from "../db/packing.ts";

const OF_RECORD = "key > (?1 << 31) AND key < ((?1 + 1) << 31)";
const VERSIONS = `SELECT key & 2147483647, operation, patch IS NULL, valid_from, members, observed, sort_keys
  FROM history_versions WHERE ${OF_RECORD} ORDER BY key`;
const BASES = `SELECT DISTINCT ${baseSequenceSql("v")} FROM history_versions v WHERE ${OF_RECORD} AND patch IS NOT NULL`;
const UNPACK = `UPDATE history_versions AS v SET members = ${writtenSql("v", "members")},
    observed = ${writtenSql("v", "observed")}, sort_keys = ${writtenSql("v", "sort_keys")}, patch = NULL
  WHERE ${OF_RECORD} AND patch IS NOT NULL AND ${baseSequenceSql("v")} IN (SELECT value FROM json_each(?2))`;
const PACK = `UPDATE history_versions SET members = ?3, observed = ?4, sort_keys = ?5, patch = ?6
  WHERE key = ((?1 << 31) | ?2)`;

type Row = [
  sequence: number,
  operation: number,
  isWhole: number,
  validFrom: string,
  members: string | null,
  observed: string,
  sortKeys: string | null,
];

interface Base extends BaseVersion {
  followers: number;
}

/** Result of packing. */
export interface Packed {
  /** Number of versions packed. */
  readonly packed: number;
  /** Bytes saved in their text. */
  readonly savedBytes: number;
}

export const NOTHING_PACKED: Packed = { packed: 0, savedBytes: 0 };

export class VersionPacker {
  private readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Unpacks versions of a record that depend on any of these bases. @param sequences of bases */
  unpackDependents(n: number, sequences: readonly number[]): void {
    this.db.$client.query(UNPACK).run(n, JSON.stringify(sequences));
  }

  /** Packs the whole versions of a record, except bases of others. */
  pack(n: number): Packed {
    const pack = this.db.$client.query(PACK);
    return this.forEachPackable(n, (sequence, { members, observed, sort_keys, patch }) =>
      pack.run(n, sequence, members, observed, sort_keys, patch),
    );
  }

  /** Computes the effect of packing without writing. */
  estimate(n: number): Packed {
    return this.forEachPackable(n, () => {});
  }

  private forEachPackable(n: number, act: (sequence: number, texts: PackedTexts) => void): Packed {
    const { $client } = this.db;
    const bases = new Set(($client.query(BASES).values(n) as Array<[number]>).flat());
    let base: Base | null = null;
    let packed = 0;
    let savedBytes = 0;
    const rows = $client.query(VERSIONS).values(n) as Row[];
    for (const [sequence, operation, isUnpacked, validFrom, members, observed, sort_keys] of rows) {
      if (isUnpacked === 0) {
        if (base !== null) base.followers += 1;
        continue;
      }
      if (members === null) {
        base = null;
        continue;
      }
      const texts = { members, observed, sort_keys };
      const isPackable = operation === OPERATION.Updated && !bases.has(sequence);
      const found: PackedTexts | null =
        base !== null && isPackable && base.followers < VERSIONS_PER_BASE ? packVersion(base, texts, validFrom) : null;
      if (base === null || found === null) {
        base = { ...texts, sequence, followers: 0 };
        continue;
      }
      act(sequence, found);
      base.followers += 1;
      packed += 1;
      savedBytes += lengthOf(texts) - lengthOf(found);
    }
    return { packed, savedBytes };
  }
}

function lengthOf({ members, observed, sort_keys }: VersionTexts): number {
  return Buffer.byteLength(members) + Buffer.byteLength(observed) + Buffer.byteLength(sort_keys ?? "");
}
