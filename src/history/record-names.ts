// Names of records by id, as of either of two transactions, for reports. Only records visible to the caller.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { displayNameOf } from "../resources/bindings/display-names.ts";
import { CHANGE_KINDS } from "./change-view.ts";

/** Maximum cached names; beyond it the cache is cleared. */
const MAX_KNOWN = 10_000;

/** Names for one report. */
export class RecordNames {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly instants: readonly AsOf[];
  private readonly known = new Map<string, string | null>();

  /** @param sequences later one first: a record deleted by then has its earlier name */
  constructor(reader: Reader, actor: Actor, sequences: readonly number[]) {
    this.reader = reader;
    this.actor = actor;
    this.instants = sequences.map((sequence) => reader.atSequence(sequence));
  }

  /** Null if the caller cannot see the record. */
  of(id: string): string | null {
    let name = this.known.get(id);
    if (name === undefined) {
      name = this.find(id);
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      this.known.set(id, name);
    }
    return name;
  }

  /** Name of an already loaded record; its id if it has no name. */
  ofRecord(kind: AnyKind, record: Readonly<Record<string, unknown>>): string {
    return displayNameOf(kind, record, (_, id) => this.of(id)) ?? String(record.id);
  }

  private find(id: string): string | null {
    const [row] = this.reader.statement("SELECT kind FROM history_records WHERE id = +?").values(id) as [number][];
    const kind = CHANGE_KINDS.find((each) => each.code === row?.[0]);
    if (kind === undefined) return null;
    for (const asOf of this.instants) {
      const found = this.reader.find(kind, id, this.actor, asOf);
      if (found !== null) return this.ofRecord(kind, JSON.parse(found.text) as Record<string, unknown>);
    }
    return null;
  }
}
