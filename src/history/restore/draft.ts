// What a restore or a revert would make of the records that it is about, before anything is written: each as it is and
// as it is to be, over what is live. Must not decide what is to be, and must not write.

import { CUSTOM_FIELDS, customFieldKey, fieldValueOf, mergedCustomFields } from "../../base/custom-field-names.ts";
import { ownValue } from "../../base/fields.ts";
import { type AnyKind, liveIdentity, type Observed, type RecordBase } from "../../db/kind.ts";
import { changedOwnFields } from "../../db/writing/entry.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { isFieldTold } from "../../records/told-fields.ts";
import { recordCalled } from "../../resources/bindings/record-called.ts";
import { DISCOVERABLE_READ_ONLY } from "../../resources/discovered.ts";
import { recordName } from "../../resources/record-label.ts";
import { PLAN_VALUES_MAX, type PlanAction, type PlanConflict, type Planned, subjectOf } from "./plan.ts";

/** A record as it is and as it is to be. */
export interface Drafted {
  readonly kind: AnyKind;
  readonly id: string;
  /** Null for one that is not alive. */
  readonly before: RecordBase | null;
  /** Null for one that is not to be. */
  after: RecordBase | null;
  /** Of one that is brought back. */
  readonly observed: Observed;
  /** A state of it to name it by. */
  readonly subject: RecordBase;
  /** Whether it came along with what was asked for. */
  readonly isPart: boolean;
  readonly reasons: Set<string>;
}

/** What is put into a draft. */
interface DraftEntry {
  readonly kind: AnyKind;
  readonly before: RecordBase | null;
  readonly after: RecordBase | null;
  readonly observed?: Observed;
  readonly subject: RecordBase;
  readonly isPart?: boolean;
  readonly reason?: string;
}

/** One draft, and what stands in its way. */
export class RestoreDraft {
  readonly tx: WriteTransaction;
  readonly conflicts: PlanConflict[] = [];
  private readonly byId = new Map<string, Drafted>();
  /** Those that were to stand for a thing at any time, by kind and identity: there may be a hundred thousand of them. */
  private readonly byIdentity = new Map<string, Set<Drafted>>();

  constructor(tx: WriteTransaction) {
    this.tx = tx;
  }

  /** In the order in which they were put. */
  get all(): Drafted[] {
    return [...this.byId.values()];
  }

  /** Adds a record, or puts another state in the place of one that is there. */
  put(entry: DraftEntry): Drafted {
    const { kind, before, after, observed = {}, subject, isPart = false, reason } = entry;
    const note = () => this.noteIdentity(drafted);
    let now = after;
    const drafted: Drafted = {
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

  /** Null for a record that nothing is drafted of. */
  get(id: string): Drafted | null {
    return this.byId.get(id) ?? null;
  }

  /** A record as it is to be, or as it is where nothing is drafted of it; null for none. */
  find(kind: AnyKind, id: string): RecordBase | null {
    const drafted = this.byId.get(id);
    if (drafted === undefined) return this.tx.find(kind, id) as RecordBase | null;
    return drafted.kind.code === kind.code ? drafted.after : null;
  }

  /** What is to stand for a thing, of a kind whose things are unique; null for none. */
  findByIdentity(kind: AnyKind, identity: string): RecordBase | null {
    const live = this.tx.findByIdentity(kind, identity) as RecordBase | null;
    if (live !== null && !this.byId.has(live.id)) return live;
    for (const drafted of this.byIdentity.get(`${kind.code}/${identity}`) ?? []) {
      const { after } = drafted;
      const isInForce = this.byId.get(drafted.id) === drafted && after !== null;
      if (isInForce && liveIdentity(kind, after) === identity) return after;
    }
    return null;
  }

  private noteIdentity(drafted: Drafted): void {
    const identity = drafted.after === null ? null : liveIdentity(drafted.kind, drafted.after);
    if (identity === null) return;
    const key = `${drafted.kind.code}/${identity}`;
    const known = this.byIdentity.get(key);
    if (known === undefined) this.byIdentity.set(key, new Set([drafted]));
    else known.add(drafted);
  }

  /** Notes a conflict: the draft is not to be written. @param message without its full stop */
  refuse(drafted: Drafted, code: PlanConflict["code"], message: string, field?: string): void {
    this.conflicts.push({
      ...subjectOf(drafted.kind, drafted.subject),
      ...this.named(drafted),
      ...(field === undefined ? {} : { field }),
      code,
      message,
    });
  }

  /**
   * What comes of it, record by record.
   * @param isAllReached whether whoever is told reaches every network of the organization
   */
  planned(isAllReached: boolean): Planned {
    const parts = changedParts(this.all, this.byId);
    let told = 0;
    const actions = this.all.map((drafted) => {
      const action = { ...actionOf(drafted, parts.get(drafted.id) ?? new Set()), ...this.named(drafted) };
      const changes = told < PLAN_VALUES_MAX ? changesOf(drafted, isAllReached) : [];
      if (changes.length === 0) return action;
      told += 1;
      return { ...action, changes };
    });
    return { actions, conflicts: this.conflicts };
  }

  /** As it is to be called, or was. */
  private named({ kind, after, subject }: Drafted): { name?: string } {
    const name = recordCalled(kind, after ?? subject, (other, id) => {
      const drafted = this.byId.get(id);
      const record = drafted === undefined ? this.tx.find(other, id) : (drafted.after ?? drafted.subject);
      return record === null ? null : recordName(other, record);
    });
    return name === null ? {} : { name };
  }
}

/** Whether the record is written at all. */
export function isWritten({ before, after }: Drafted): boolean {
  if (before === null || after === null) return before !== after;
  return changedOwnFields(before, after).length > 0;
}

/**
 * A live record with the fields that it had then; what belongs to its life stays.
 * @param except fields that stay as they are as well
 */
export function asItWas(live: RecordBase, then: RecordBase, except: readonly string[] = []): RecordBase {
  const record: Record<string, unknown> = { ...live };
  const fields = changedContent(live, then).filter((name) => !except.includes(name));
  // What had no value then has none, also where that is said by leaving it out.
  for (const name of fields) if (customFieldKey(name) === null) record[name] = ownValue(then, name);
  const custom = fields.filter((name) => customFieldKey(name) !== null);
  if (custom.length > 0) record[CUSTOM_FIELDS] = mergedCustomFields(record, { ...then }, custom);
  return record as unknown as RecordBase;
}

/**
 * The fields in which two states of a record differ, but for what scans say of it: that is of today, whatever is
 * brought back.
 */
export function changedContent(before: RecordBase, after: RecordBase): string[] {
  return changedOwnFields(before, after).filter(
    (name) => !(DISCOVERABLE_READ_ONLY as readonly string[]).includes(name),
  );
}

/** Under which names the parts of drafted records change, by the id of the whole. */
function changedParts(all: readonly Drafted[], byId: ReadonlyMap<string, Drafted>): Map<string, Set<string>> {
  const parts = new Map<string, Set<string>>();
  // Owners have lower codes than their parts: what is a part's is known before it is the whole's turn.
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

function actionOf(drafted: Drafted, parts: ReadonlySet<string>): PlanAction {
  const { kind, before, after, subject, reasons } = drafted;
  const fields =
    before === null || after === null ? [] : [...new Set([...changedOwnFields(before, after), ...parts])].sort();
  const reason = reasons.size === 0 ? {} : { reason: [...reasons].join("; ") };
  const state = after ?? subject;
  return {
    ...subjectOf(kind, state),
    ...hostOf(state),
    action: operationOf(drafted, fields),
    fields,
    ...reason,
  };
}

/** Its name alone does not say which part of which host it is. */
function hostOf(record: RecordBase): { host_id?: string } {
  const { host_id } = record as { host_id?: unknown };
  return typeof host_id === "string" ? { host_id } : {};
}

/** Written by the write itself: a plan cannot know when that will be. */
export const OF_THE_WRITE: ReadonlySet<string> = new Set(["secrets_updated_at"]);

/** The fields of a record that stays, from what they are to what they are to be. */
function changesOf({ kind, before, after }: Drafted, isAllReached: boolean): NonNullable<PlanAction["changes"]> {
  if (before === null || after === null) return [];
  return changedOwnFields(before, after)
    .filter((field) => isFieldTold(kind, field, isAllReached) && !OF_THE_WRITE.has(field))
    .sort()
    .map((field) => ({
      field,
      from: fieldValueOf({ ...before }, field) ?? null,
      to: fieldValueOf({ ...after }, field) ?? null,
    }));
}

function operationOf({ before, after }: Drafted, fields: readonly string[]): PlanAction["action"] {
  if (before === null) return after === null ? "Skip" : "Create";
  if (after === null) return "Delete";
  return fields.length === 0 ? "Skip" : "Update";
}
