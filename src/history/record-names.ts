// What people call the records that an id stands for, as of one of two instants: for reports. Only of what the caller
// sees.

import type { Actor } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { recordCalled } from "../resources/bindings/record-called.ts";
import { CHANGE_KINDS } from "./change-view.ts";

/** Names kept at hand; beyond that they are looked up again. */
const MAX_KNOWN = 10_000;

/** The names of one report. */
export class RecordNames {
  private readonly reader: Reader;
  private readonly actor: Actor;
  private readonly instants: readonly AsOf[];
  private readonly known = new Map<string, string | null>();

  /** @param sequences the later one first: what is gone there is called what it was */
  constructor(reader: Reader, actor: Actor, sequences: readonly number[]) {
    this.reader = reader;
    this.actor = actor;
    this.instants = sequences.map((sequence) => reader.atSequence(sequence));
  }

  /** Null for an id of nothing that the caller sees. */
  of(id: string): string | null {
    let name = this.known.get(id);
    if (name === undefined) {
      name = this.find(id);
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      this.known.set(id, name);
    }
    return name;
  }

  /** What a record is called that was read already; by its id where it is called nothing. */
  ofRecord(kind: AnyKind, record: Readonly<Record<string, unknown>>): string {
    return recordCalled(kind, record, (_, id) => this.of(id)) ?? String(record.id);
  }

  private find(id: string): string | null {
    const row = this.reader.statement("SELECT kind FROM history_records WHERE id = +?").values(id)[0] as
      | [number]
      | undefined;
    const kind = CHANGE_KINDS.find((each) => each.code === row?.[0]);
    if (kind === undefined) return null;
    for (const asOf of this.instants) {
      const found = this.reader.find(kind, id, this.actor, asOf);
      if (found !== null) return this.ofRecord(kind, JSON.parse(found.text) as Record<string, unknown>);
    }
    return null;
  }
}
