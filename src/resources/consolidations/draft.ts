// Move draft for two hosts: each affected record before and after. The caller decides what moves.

import { fieldValueOf } from "../../base/custom-field-names.ts";
import type { AnyKind, Kind, OwnFields, RecordBase } from "../../db/kind.ts";
import { changedOwnFields } from "../../db/writing/entry.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { recordName } from "../record-label.ts";
import { referrersOf } from "../references.ts";
import { type MoveAction, type MoveActionName, type MoveRefusal, moveSubject } from "./plan.ts";
import { replaceReferences } from "./renamed.ts";

interface Step {
  readonly kind: AnyKind;
  readonly before: RecordBase;
  /** Null for a closed record. */
  after: RecordBase | null;
  action: MoveActionName;
  readonly reasons: Set<string>;
}

interface Creation {
  readonly kind: AnyKind;
  readonly nameField: { readonly name?: string };
  readonly reason: string | null;
  readonly make: () => RecordBase | null;
  record: RecordBase | null | undefined;
}

/** Planned changes of a consolidation or split, and the conflicts that prevent it. Nothing is written until the end. */
export class MoveDraft {
  readonly tx: WriteTransaction;
  readonly refused: MoveRefusal[] = [];
  private readonly creations: Creation[] = [];
  private readonly steps = new Map<string, Step>();
  /** Replacement of a closed record, by its id. */
  private readonly replacements = new Map<string, string>();

  constructor(tx: WriteTransaction) {
    this.tx = tx;
  }

  /** A record as planned; null if it does not exist or is planned to close. */
  find<R extends RecordBase>(kind: Kind<R>, id: string): R | null {
    const step = this.steps.get(id);
    return (step === undefined ? this.tx.find(kind, id) : step.after) as R | null;
  }

  /** Id of the replacement of a closed record; otherwise the id itself. */
  idOf = (id: string): string => this.replacements.get(id) ?? id;

  /** Display names of other records, including those planned to close. */
  private readonly nameOf = (kind: AnyKind, id: string): string | null => {
    const record = this.steps.get(id)?.before ?? this.tx.find(kind, id);
    return record === null ? null : recordName(kind, record);
  };

  /** Sets fields of a record and marks it as moved or changed. */
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

  /** @param into its replacement; null for none */
  close(kind: AnyKind, record: RecordBase, into: RecordBase | null, reason?: string): void {
    const step = this.step(kind, record, "Closed");
    step.action = "Closed";
    step.after = null;
    if (reason !== undefined) step.reasons.add(reason);
    if (into !== null) this.replacements.set(record.id, into.id);
  }

  /** @param make runs before any other write; returns null if the record already exists */
  create(
    kind: AnyKind,
    nameField: { readonly name?: string },
    reason: string | null,
    make: () => RecordBase | null,
  ): void {
    this.creations.push({ kind, nameField, reason, make, record: undefined });
  }

  keep(kind: AnyKind, record: RecordBase): void {
    this.step(kind, record, "Kept");
  }

  /** @param message the conflict, without its full stop */
  refuse(kind: AnyKind, record: RecordBase, message: string): void {
    this.refused.push({ ...moveSubject(kind, record, this.nameOf), message });
  }

  /** Points references to closed records at their replacements. */
  redirectReferences(): void {
    for (const [id] of this.replacements) {
      const { kind } = this.steps.get(id) as Step;
      for (const referrer of referrersOf(this.tx, kind, id)) {
        const state = this.find(referrer.kind, referrer.record.id);
        if (state === null || !referrer.refers(state)) continue;
        const updated = replaceReferences(referrer.kind, state, this.idOf);
        this.step(referrer.kind, referrer.record, "Changed").after = updated;
      }
    }
  }

  /**
   * Lists the actions by record, omitting kinds shown only as part of another. A created record has an id only after
   * the write.
   */
  actions(): MoveAction[] {
    const created = this.creations.flatMap(({ kind, nameField, reason, record }): MoveAction[] =>
      record === null
        ? []
        : [
            {
              entity_type: kind.name,
              id: record?.id ?? null,
              ...nameField,
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
      // Assignments are hidden in change lists, but relevant here: they show where credentials move.
      if (kind.isReportedByContainer === true && kind.name !== "credential_assignment") return [];
      const fields = after === null ? [] : changedOwnFields(before, after).sort();
      if (action === "Changed" && fields.length === 0) return [];
      const into = this.replacements.get(before.id);
      return {
        ...moveSubject(kind, after ?? before, this.nameOf),
        action,
        fields,
        ...(into === undefined ? {} : { into_id: into }),
        ...(reasons.size === 0 ? {} : { reason: [...reasons].join("; ") }),
      };
    });
  }

  /**
   * Hash of the plan; differs if any action or the request differs.
   * @param request the request
   * @param newId of the host to be created, which differs on each run; null for none
   */
  token(request: unknown, newId: string | null): string {
    const serialize = (values: unknown) =>
      JSON.stringify(values, (_, value: unknown) => (newId !== null && value === newId ? "" : value));
    const hasher = new Bun.CryptoHasher("sha256").update(serialize([request, this.actions(), this.refused]));
    for (const { before, after, action } of this.steps.values())
      hasher.update(serialize([before.id, action, after === null ? null : changedValues(before, after)]));
    return hasher.digest("hex");
  }

  write(): void {
    for (const creation of this.creations) creation.record = creation.make();
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

/** Planned values of a record's changed fields. */
function changedValues(before: RecordBase, after: RecordBase): unknown[] {
  return changedOwnFields(before, after)
    .sort()
    .map((field) => [field, fieldValueOf({ ...after }, field)]);
}
