// Batch reads of records' own fields as of a transaction, and of names of referenced records, without composed parts.
// Names only of records that the caller ever saw.

import type { AnyKind } from "../db/kind.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { byKindSql, membersSql } from "../db/shape.ts";
import { recordName } from "../resources/record-label.ts";
import { CHANGE_KINDS } from "./change-view.ts";

export type PastFields = Readonly<Record<string, unknown>>;

/**
 * Records of a kind as of a transaction, in the given order; null for one that did not exist then.
 * @param reader on any snapshot: the past does not change
 */
export function ownFieldsAt(
  reader: Pick<Reader, "statement">,
  kind: AnyKind,
  ns: readonly number[],
  sequence: number,
): (PastFields | null)[] {
  const rows = reader
    .statement(
      `SELECT (SELECT '{' || ${membersSql(kind, "v")} || '}' FROM history_versions v
        WHERE v.key <= ((p.n << 31) | +?2) AND v.key > (p.n << 31) ORDER BY v.key DESC LIMIT 1)
        FROM (SELECT value AS n FROM json_each(+?1) ORDER BY key) p`,
    )
    .values(JSON.stringify(ns), sequence) as Array<[string | null]>;
  return rows.map(([text]) => (text === null ? null : (JSON.parse(text) as PastFields)));
}

/** Id and name of a record; the name is null if it has none or the caller never saw it. */
export interface RecordName {
  readonly id: string;
  readonly name: string | null;
}

/** Names of records as of a transaction, or at their end before it. */
export class HighlightNames {
  private readonly reader: Reader;
  private readonly log: ChangeLog;
  private readonly reach: Reach;
  private readonly sequence: number;
  private readonly known = new Map<string, string | null>();

  constructor(reader: Reader, reach: Reach, sequence: number) {
    this.reader = reader;
    this.log = new ChangeLog(reader);
    this.reach = reach;
    this.sequence = sequence;
  }

  /** Prefetches names for `of`. */
  prefetch(ids: Iterable<string>): void {
    const missing = [...new Set(ids)].filter((id) => !this.known.has(id));
    if (missing.length === 0) return;
    const rows = this.reader
      .statement(
        `SELECT r.id, r.n, r.kind, (SELECT '{' || ${MEMBERS} || '}' FROM history_versions v WHERE v.key > (r.n << 31)
          AND v.key <= ((r.n << 31) | +?2) AND v.members IS NOT NULL ORDER BY v.key DESC LIMIT 1)
          FROM json_each(+?1) j CROSS JOIN history_records r ON r.id = j.value`,
      )
      .values(JSON.stringify(missing), this.sequence) as Array<[string, number, number, string | null]>;
    const ns = rows.map(([, n]) => n);
    const seen = this.log.everVisibleAmong(CHANGE_KINDS, ns, this.reach, null);
    for (const id of missing) this.known.set(id, null);
    for (const [id, n, code, text] of rows) {
      const kind = CHANGE_KINDS.find((each) => each.code === code);
      if (kind !== undefined && text !== null && seen.has(n))
        this.known.set(id, recordName(kind, JSON.parse(text) as PastFields));
    }
  }

  /** Requires a prior `prefetch`. */
  of(id: string): RecordName {
    return { id, name: this.known.get(id) ?? null };
  }
}

const MEMBERS = byKindSql(CHANGE_KINDS, "r.kind", "v", membersSql);
