// What moves between two hosts, before anything is written: each record as it is and as it is to be. Must not decide
// what moves.

import { fieldValueOf } from "../../base/custom-field-names.ts";
import type { AnyKind, Kind, OwnFields, RecordBase } from "../../db/kind.ts";
import { changedOwnFields } from "../../db/writing/entry.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { recordName } from "../record-label.ts";
import { referrersOf } from "../references.ts";
import { type MoveAction, type MoveActionName, type MoveRefusal, movedSubject } from "./plan.ts";
import { renamedEverywhere } from "./renamed.ts";

interface Step {
  readonly kind: AnyKind;
  readonly before: RecordBase;
  /** Null for one that is closed. */
  after: RecordBase | null;
  action: MoveActionName;
  readonly reasons: Set<string>;
}

interface Creation {
  readonly kind: AnyKind;
  readonly named: { readonly name?: string };
  readonly reason: string | null;
  readonly make: () => RecordBase | null;
  made: RecordBase | null | undefined;
}

/** What joining or splitting hosts would make of their records, and what stands in its way. Nothing is written yet. */
export class MoveDraft {
  readonly tx: WriteTransaction;
  readonly refused: MoveRefusal[] = [];
  private readonly creations: Creation[] = [];
  private readonly steps = new Map<string, Step>();
  /** What stands for a closed record, by its id. */
  private readonly standIns = new Map<string, string>();

  constructor(tx: WriteTransaction) {
    this.tx = tx;
  }

  /** A record as it is to be; null for one that is not there, or is not to be. */
  find<R extends RecordBase>(kind: Kind<R>, id: string): R | null {
    const step = this.steps.get(id);
    return (step === undefined ? this.tx.find(kind, id) : step.after) as R | null;
  }

  /** The id that stands for a record from now on: its own, unless it is closed for another. */
  idOf = (id: string): string => this.standIns.get(id) ?? id;

  /** What others are called, also those that go. */
  private readonly callOther = (kind: AnyKind, id: string): string | null => {
    const record = this.steps.get(id)?.before ?? this.tx.find(kind, id);
    return record === null ? null : recordName(kind, record);
  };

  /** Sets fields of a record, and says that it moves or only changes. */
  set<R extends RecordBase>(
    kind: Kind<R>,
    record: R,
    fields: Partial<OwnFields<R>>,
    action: "Moved" | "Changed",
    reason?: string,
  ): void {
    const step = this.step(kind, record, action);
    step.after = { ...(step.after ?? record), ...fields };
    if (reason !== undefined) step.reasons.add(reason);
  }

  /** @param into what stands for it; null for nothing */
  close(kind: AnyKind, record: RecordBase, into: RecordBase | null, reason?: string): void {
    const step = this.step(kind, record, "Closed");
    step.action = "Closed";
    step.after = null;
    if (reason !== undefined) step.reasons.add(reason);
    if (into !== null) this.standIns.set(record.id, into.id);
  }

  /** @param make is run before anything else is written; null where there is one already */
  create(kind: AnyKind, named: { readonly name?: string }, reason: string | null, make: () => RecordBase | null): void {
    this.creations.push({ kind, named, reason, make, made: undefined });
  }

  keep(kind: AnyKind, record: RecordBase): void {
    this.step(kind, record, "Kept");
  }

  /** @param message what stands in the way, without its full stop */
  refuse(kind: AnyKind, record: RecordBase, message: string): void {
    this.refused.push({ ...movedSubject(kind, record, this.callOther), message });
  }

  /** Has whatever names a closed record name what stands for it. */
  follow(): void {
    for (const [id] of this.standIns) {
      const { kind } = this.steps.get(id) as Step;
      for (const referrer of referrersOf(this.tx, kind, id)) {
        const state = this.find(referrer.kind, referrer.record.id);
        if (state === null || !referrer.refers(state)) continue;
        const renamed = renamedEverywhere(referrer.kind, state, this.idOf);
        this.step(referrer.kind, referrer.record, "Changed").after = renamed;
      }
    }
  }

  /**
   * What comes of it, record by record; what shows only as a part of another record is not told. What is created has its
   * id once it is written.
   */
  actions(): MoveAction[] {
    const created = this.creations.flatMap(({ kind, named, reason, made }): MoveAction[] =>
      made === null
        ? []
        : [
            {
              entity_type: kind.name,
              id: made?.id ?? null,
              ...named,
              action: "Created",
              fields: [],
              ...(reason === null ? {} : { reason }),
            },
          ],
    );
    return [...created, ...this.moves()];
  }

  private moves(): MoveAction[] {
    return [...this.steps.values()].flatMap(({ kind, before, after, action, reasons }) => {
      if (kind.isUntold === true && !isAssociation(kind)) return [];
      const fields = after === null ? [] : changedOwnFields(before, after).sort();
      if (action === "Changed" && fields.length === 0) return [];
      const into = this.standIns.get(before.id);
      return {
        ...movedSubject(kind, after ?? before, this.callOther),
        action,
        fields,
        ...(into === undefined ? {} : { into_id: into }),
        ...(reasons.size === 0 ? {} : { reason: [...reasons].join("; ") }),
      };
    });
  }

  /**
   * Stands for the plan: another one where anything else would be done, or another thing was asked for.
   * @param asked what was asked for
   * @param newId of the host that is made, which is another one each time; null where none is
   */
  token(asked: unknown, newId: string | null): string {
    const said = (values: unknown) =>
      JSON.stringify(values, (_, value: unknown) => (newId !== null && value === newId ? "" : value));
    const hasher = new Bun.CryptoHasher("sha256").update(said([asked, this.actions(), this.refused]));
    for (const { before, after, action } of this.steps.values())
      hasher.update(said([before.id, action, after === null ? null : changedValues(before, after)]));
    return hasher.digest("hex");
  }

  write(): void {
    for (const creation of this.creations) creation.made = creation.make();
    for (const { kind, before, after } of this.steps.values()) {
      if (after === null) {
        this.tx.remove(kind, before.id);
        continue;
      }
      if (after === before) continue;
      const { id, created_at, updated_at, valid_from, lineage_id, ...fields } = after;
      this.tx.update(kind, id, fields as Partial<OwnFields<RecordBase>>);
    }
  }

  private step(kind: AnyKind, record: RecordBase, action: MoveActionName): Step {
    let step = this.steps.get(record.id);
    if (step === undefined) {
      step = { kind, before: record, after: record, action, reasons: new Set() };
      this.steps.set(record.id, step);
    }
    return step;
  }
}

/** What a record's changed fields are to be. */
function changedValues(before: RecordBase, after: RecordBase): unknown[] {
  return changedOwnFields(before, after)
    .sort()
    .map((field) => [field, fieldValueOf({ ...after }, field)]);
}

/** Untold among changes, but people ask for it here: where a credential goes. */
function isAssociation(kind: AnyKind): boolean {
  return kind.name === "credential_assignment";
}
