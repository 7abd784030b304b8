// Record names as of a transaction, or as of deletion, limited to records the caller can access. For reports over a
// period.

import type { Actor } from "../../access/actor.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { KINDS } from "../../records/resources.ts";
import { displayNameOf } from "../../resources/bindings/display-names.ts";

export interface PastRecordName {
  readonly kind: AnyKind;
  readonly id: string;
  readonly name: string;
  /** Null for a record in no network. */
  readonly networkId: string | null;
  readonly hostId: string | null;
}

export class PastNames {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly sequence: number;
  private readonly known = new Map<number, PastRecordName | null>();

  constructor(reader: Reader, actor: Actor, sequence: number) {
    this.reader = reader;
    this.actor = actor;
    this.sequence = sequence;
  }

  /** Null if the record is hidden from the caller, or its versions have been pruned. */
  of(n: number): PastRecordName | null {
    let record = this.known.get(n);
    if (record === undefined) {
      record = this.find(n);
      this.known.set(n, record);
    }
    return record;
  }

  /** As `of`, by id. */
  ofId(id: string): PastRecordName | null {
    const n = this.reader.recordN(id);
    return n === null ? null : this.of(n);
  }

  private find(n: number): PastRecordName | null {
    const row = this.reader
      .statement(
        `SELECT r.kind, r.id, (SELECT max(v.key) & 2147483647 FROM history_versions v WHERE v.key > (r.n << 31)
          AND v.key <= ((r.n << 31) | +?2)) FROM history_records r WHERE r.n = +?1`,
      )
      .values(n, this.sequence)[0] as [number, string, number | null] | undefined;
    const kind = KINDS.find((each) => each.code === row?.[0]);
    if (row === undefined || kind === undefined) return null;
    const [, id, newest] = row;
    // A deleted record has the name of its last version.
    for (const sequence of [this.sequence, (newest ?? 0) - 1]) {
      const found = this.reader.find(kind, id, this.actor, this.reader.atSequence(sequence));
      if (found === null) continue;
      const record = JSON.parse(found.text) as { readonly network_id?: string; readonly host_id?: string };
      return {
        kind,
        id,
        name: displayNameOf(kind, record, (_, other) => this.ofId(other)?.name ?? null) ?? id,
        networkId: record.network_id ?? null,
        hostId: record.host_id ?? null,
      };
    }
    return null;
  }
}
