// Restore or revert draft: the affected records before and after, on top of the live state. Read-only; makes no
// decisions.

import { CUSTOM_FIELDS, customFieldKey, fieldValueOf, mergedCustomFields } from "../../base/custom-field-names.ts";
import { ownValue } from "../../base/fields.ts";
import { type AnyKind, liveIdentity, type Observed, type RecordBase } from "../../db/kind.ts";
import { changedOwnFields } from "../../db/writing/entry.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { isFieldVisible } from "../../records/disclosed-fields.ts";
import { displayNameOf } from "../../resources/bindings/display-names.ts";
import { DISCOVERABLE_READ_ONLY } from "../../resources/discovered.ts";
import { recordName } from "../../resources/record-label.ts";
import { PLAN_VALUES_MAX, type Plan, type PlanAction, type PlanConflict, subjectOf } from "./plan.ts";

/** A record before and after. */
export interface DraftedRecord {
  readonly kind: AnyKind;
  readonly id: string;
  /** Null if the record is not live. */
  readonly before: RecordBase | null;
  /** Null if the record is to be removed. */
  after: RecordBase | null;
  /** Observation values of a restored record. */
  readonly observed: Observed;
  /** A state of the record, for its name. */
  readonly subject: RecordBase;
  /** Whether it was added as part of a requested record. */
  readonly isPart: boolean;
  readonly reasons: Set<string>;
}

/** An addition to a draft. */
interface DraftEntry {
  readonly kind: AnyKind;
  readonly before: RecordBase | null;
  readonly after: RecordBase | null;
  readonly observed?: Observed;
  readonly subject: RecordBase;
  readonly isPart?: boolean;
  readonly reason?: string;
}

/** One draft with its conflicts. */
export class RestoreDraft {
  readonly tx: WriteTransaction;
  readonly conflicts: PlanConflict[] = [];
  private readonly byId = new Map<string, DraftedRecord>();
  /** Index by kind and identity of records that had the identity at any time: there may be a hundred thousand. */
  private readonly byIdentity = new Map<string, Set<DraftedRecord>>();

  constructor(tx: WriteTransaction) {
    this.tx = tx;
  }

  /** In insertion order. */
  get all(): DraftedRecord[] {
    return [...this.byId.values()];
  }

  /** Adds a record, or replaces its drafted state. */
  put(entry: DraftEntry): DraftedRecord {
    const { kind, before, after, observed = {}, subject, isPart = false, reason } = entry;
    const note = () => this.noteIdentity(drafted);
    let now = after;
    const drafted: DraftedRecord = {
      kind,
      id: subject.id,
      before,
      get after() {
        return now;
      },
      set after(next) {
        now = next;
        note();
      },
      observed,
      subject,
      isPart,
      reasons: new Set(reason === undefined ? [] : [reason]),
    };
    this.byId.set(subject.id, drafted);
    note();
    return drafted;
  }

  /** Null if the record is not in the draft. */
  get(id: string): DraftedRecord | null {
    return this.byId.get(id) ?? null;
  }

  /** Drafted state of a record, or its live state if not drafted; null if none. */
  find(kind: AnyKind, id: string): RecordBase | null {
    const drafted = this.byId.get(id);
    if (drafted === undefined) return this.tx.find(kind, id) as RecordBase | null;
    return drafted.kind.code === kind.code ? drafted.after : null;
  }

  /** Record with a unique identity after the draft; null if none. */
  findByIdentity(kind: AnyKind, identity: string): RecordBase | null {
    const live = this.tx.findByIdentity(kind, identity) as RecordBase | null;
    if (live !== null && !this.byId.has(live.id)) return live;
    for (const drafted of this.byIdentity.get(`${kind.code}/${identity}`) ?? []) {
      const { after } = drafted;
      const isCurrent = this.byId.get(drafted.id) === drafted && after !== null;
      if (isCurrent && liveIdentity(kind, after) === identity) return after;
    }
    return null;
  }

  private noteIdentity(drafted: DraftedRecord): void {
    const identity = drafted.after === null ? null : liveIdentity(drafted.kind, drafted.after);
    if (identity === null) return;
    const key = `${drafted.kind.code}/${identity}`;
    const known = this.byIdentity.get(key);
    if (known === undefined) this.byIdentity.set(key, new Set([drafted]));
    else known.add(drafted);
  }

  /** Adds a conflict, which prevents the write. @param message without its full stop */
  refuse(drafted: DraftedRecord, code: PlanConflict["code"], message: string, field?: string): void {
    this.conflicts.push({
      ...subjectOf(drafted.kind, drafted.subject),
      ...this.nameOf(drafted),
      ...(field === undefined ? {} : { field }),
      code,
      message,
    });
  }

  /**
   * The plan, record by record.
   * @param hasFullReach whether the reader of the plan reaches every network of the organization
   */
  toPlan(hasFullReach: boolean): Plan {
    const parts = changedParts(this.all, this.byId);
    let withValues = 0;
    const actions = this.all.map((drafted) => {
      const action = { ...actionOf(drafted, parts.get(drafted.id) ?? new Set()), ...this.nameOf(drafted) };
      const changes = withValues < PLAN_VALUES_MAX ? changesOf(drafted, hasFullReach) : [];
      if (changes.length === 0) return action;
      withValues += 1;
      return { ...action, changes };
    });
    return { actions, conflicts: this.conflicts };
  }

  /** Name after the change, otherwise before. */
  private nameOf({ kind, after, subject }: DraftedRecord): { name?: string } {
    const name = displayNameOf(kind, after ?? subject, (other, id) => {
      const drafted = this.byId.get(id);
      const record = drafted === undefined ? this.tx.find(other, id) : (drafted.after ?? drafted.subject);
      return record === null ? null : recordName(other, record);
    });
    return name === null ? {} : { name };
  }
}

/** Whether the record would be written at all. */
export function isWritten({ before, after }: DraftedRecord): boolean {
  if (before === null || after === null) return before !== after;
  return changedOwnFields(before, after).length > 0;
}

/**
 * A live record with its former content; timestamps and ids of the version stay.
 * @param except additional fields to leave unchanged
 */
export function withFormerContent(live: RecordBase, then: RecordBase, except: readonly string[] = []): RecordBase {
  const record: Record<string, unknown> = { ...live };
  const fields = changedContent(live, then).filter((name) => !except.includes(name));
  // Fields without a former value are cleared, even if absent.
  for (const name of fields) if (customFieldKey(name) === null) record[name] = ownValue(then, name);
  const custom = fields.filter((name) => customFieldKey(name) !== null);
  if (custom.length > 0) record[CUSTOM_FIELDS] = mergedCustomFields(record, { ...then }, custom);
  return record as unknown as RecordBase;
}

/** Differing fields of two states, except those that scans maintain, which always stay current. */
export function changedContent(before: RecordBase, after: RecordBase): string[] {
  const maintained: readonly string[] = DISCOVERABLE_READ_ONLY;
  return changedOwnFields(before, after).filter((name) => !maintained.includes(name));
}

/** Field names under which parts of drafted records change, by owner id. */
function changedParts(
  all: readonly DraftedRecord[],
  byId: ReadonlyMap<string, DraftedRecord>,
): Map<string, Set<string>> {
  const parts = new Map<string, Set<string>>();
  // Owners have lower codes than their parts, so parts come first.
  for (const drafted of [...all].sort((a, b) => b.kind.code - a.kind.code)) {
    if (drafted.kind.owners === undefined || (!isWritten(drafted) && !parts.has(drafted.id))) continue;
    for (const state of [drafted.before, drafted.after]) {
      for (const owner of state === null ? [] : drafted.kind.owners(state)) {
        if (!byId.has(owner.id)) continue;
        parts.set(owner.id, (parts.get(owner.id) ?? new Set()).add(owner.as));
      }
    }
  }
  return parts;
}

function actionOf(drafted: DraftedRecord, parts: ReadonlySet<string>): PlanAction {
  const { kind, before, after, subject, reasons } = drafted;
  const fields =
    before === null || after === null ? [] : [...new Set([...changedOwnFields(before, after), ...parts])].sort();
  const reason = reasons.size === 0 ? {} : { reason: [...reasons].join("; ") };
  const state = after ?? subject;
  return { ...subjectOf(kind, state), ...hostOf(state), action: operationOf(drafted, fields), fields, ...reason };
}

/** A name alone does not identify a part: add its host. */
function hostOf(record: RecordBase): { host_id?: string } {
  const { host_id } = record as { host_id?: unknown };
  return typeof host_id === "string" ? { host_id } : {};
}

/** Set during the write, so unknown to a plan. */
export const SET_BY_WRITE: ReadonlySet<string> = new Set(["secrets_updated_at"]);

/** Changed fields of an updated record, with old and new values. */
function changesOf({ kind, before, after }: DraftedRecord, hasFullReach: boolean): NonNullable<PlanAction["changes"]> {
  if (before === null || after === null) return [];
  return changedOwnFields(before, after)
    .filter((field) => isFieldVisible(kind, field, hasFullReach) && !SET_BY_WRITE.has(field))
    .sort()
    .map((field) => ({
      field,
      from: fieldValueOf({ ...before }, field) ?? null,
      to: fieldValueOf({ ...after }, field) ?? null,
    }));
}

function operationOf({ before, after }: DraftedRecord, fields: readonly string[]): PlanAction["action"] {
  if (before === null) return after === null ? "Skip" : "Create";
  if (after === null) return "Delete";
  return fields.length === 0 ? "Skip" : "Update";
}
