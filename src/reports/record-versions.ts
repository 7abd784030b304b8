// Record versions as of a transaction and around it, read in batches as plain records. Independent of reach and
// rendering.

import { type AnyKind, OPERATION, parseMembers, type RecordBase } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { byKindSql, membersSql } from "../db/shape.ts";
import { KINDS } from "../records/resources.ts";

/** A record in one version. */
export interface Version {
  readonly n: number;
  readonly kind: AnyKind;
  readonly sequence: number;
  /** Start of the version. */
  readonly at: string;
  /** Null for a deletion. */
  readonly record: RecordBase | null;
}

type Row = [n: number, kind: number, sequence: number, operation: number, at: string, members: string | null];

const byCode = new Map(KINDS.map((kind) => [kind.code, kind]));
const COLUMNS = `r.n, r.kind, v.key & 2147483647, v.operation, v.valid_from, ${byKindSql(KINDS, "r.kind", "v", membersSql)}`;
const NEWEST = `SELECT ${COLUMNS} FROM json_each(+?1) j CROSS JOIN history_records r ON r.n = j.value
  CROSS JOIN history_versions v ON v.key = (SELECT w.key FROM history_versions w
  WHERE w.key <= ((r.n << 31) | +?2) AND w.key > (r.n << 31) ORDER BY w.key DESC LIMIT 1)`;
/** The newest version of each record up to its own transaction. */
const NEWEST_OF_PAIRS = NEWEST.replace("r.n = j.value", "r.n = j.value ->> 0").replace("+?2", "(j.value ->> 1)");
const AFTER = `SELECT ${COLUMNS} FROM history_records r CROSS JOIN history_versions v ON v.key > ((r.n << 31) | +?2)
  AND v.key <= ((r.n << 31) | +?3) WHERE r.n = +?1 ORDER BY v.key LIMIT +?4`;
/** Versions read per step when searching for the end of a name. */
const STEP = 20;

export class RecordVersions {
  private readonly reader: Reader;
  private readonly until: number;

  /** @param until the transaction of all reads */
  constructor(reader: Reader, until: number) {
    this.reader = reader;
    this.until = until;
  }

  /** The newest version of each record up to a transaction; omits records that did not exist yet. */
  newest(ns: readonly number[], sequence = this.until): Version[] {
    if (ns.length === 0) return [];
    return (this.reader.statement(NEWEST).values(JSON.stringify(ns), sequence) as Row[]).flatMap(versionOf);
  }

  /** The newest version of each record up to its own transaction, in input order. */
  newestOf(pairs: ReadonlyArray<readonly [n: number, sequence: number]>): Version[] {
    if (pairs.length === 0) return [];
    return (this.reader.statement(NEWEST_OF_PAIRS).values(JSON.stringify(pairs)) as Row[]).flatMap(versionOf);
  }

  /** The last version of a record before its deletion. */
  last(end: Version): Version | null {
    return this.newest([end.n], end.sequence - 1).find(({ record }) => record !== null) ?? null;
  }

  /** The first later version, up to the transaction, that satisfies a condition. */
  firstAfter({ n, sequence }: Version, holds: (version: Version) => boolean): Version | null {
    for (let after = sequence; ; ) {
      const rows = this.reader.statement(AFTER).values(n, after, this.until, STEP) as Row[];
      for (const version of rows.flatMap(versionOf)) if (holds(version)) return version;
      if (rows.length < STEP) return null;
      after = (rows.at(-1) as Row)[2];
    }
  }

  /** By id: the current or last version of any record that ever existed. */
  byIds(ids: Iterable<string>): Map<string, RecordBase> {
    const ns = [...new Set(ids)].flatMap((id) => this.reader.recordN(id) ?? []);
    return new Map(
      this.newest(ns).flatMap((version) => {
        const record = version.record ?? this.last(version)?.record;
        return record == null ? [] : [[record.id, record] as const];
      }),
    );
  }
}

function versionOf([n, code, sequence, operation, at, members]: Row): Version[] {
  const kind = byCode.get(code);
  const isEnd = operation === OPERATION.Deleted || members === null;
  return kind === undefined
    ? []
    : [{ n, kind, sequence, at, record: isEnd ? null : parseMembers<RecordBase>(members) }];
}
