// Reference checks of a draft in both directions: references to removed records, and references of restored records to
// missing ones. Same rules as for a removal: optional references are dropped, required ones are conflicts.

import type { CommandActor } from "../../access/actor.ts";
import { countedEntities, entityWord } from "../../base/entity-words.ts";
import type { AnyKind } from "../../db/kind.ts";
import { liveIdentity } from "../../db/kind.ts";
import { isFieldOfReach } from "../../records/told-fields.ts";
import { renamed } from "../../resources/consolidations/renamed.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { ignoredKind } from "../../resources/ignored/ignored.ts";
import { type ReferenceHeld, referencesOf, referrersOf } from "../../resources/references.ts";
import { type Drafted, isWritten, type RestoreDraft } from "./draft.ts";
import type { Past } from "./past.ts";
import { called } from "./plan.ts";

/** Removes records that refer to removed ones, or drops their reference. */
export function followRemovals(draft: RestoreDraft): void {
  const going = draft.all.filter(({ before, after }) => before !== null && after === null);
  for (let next = going.pop(); next !== undefined; next = going.pop()) {
    const reason = `it refers to ${called(next.kind, next.subject)}, which is deleted`;
    for (const referrer of referrersOf(draft.tx, next.kind, next.id)) {
      const state = draft.find(referrer.kind, referrer.record.id);
      if (state === null || !referrer.refers(state)) continue;
      const drafted =
        draft.get(state.id) ??
        draft.put({
          kind: referrer.kind,
          before: referrer.record,
          after: referrer.record,
          subject: referrer.record,
          isPart: true,
        });
      const changes = referrer.without(state);
      drafted.after = changes === null ? null : { ...state, ...changes };
      drafted.reasons.add(reason);
      if (drafted.after === null) going.push(drafted);
    }
  }
}

/**
 * Removes records that only scans created for removed ones, since the transaction that created these: the next scan
 * will find them again in the right place.
 */
export function followScans(draft: RestoreDraft, past: Past, sequence: number): void {
  const going = draft.all.filter(({ before, after }) => before !== null && after === null);
  for (let next = going.pop(); next !== undefined; next = going.pop()) {
    for (const { kind, record, refers, without } of referrersOf(draft.tx, next.kind, next.id)) {
      const state = draft.find(kind, record.id);
      if (state === null || !refers(state)) continue;
      if (!past.isScansAloneSince(draft.tx.recordN(record.id) ?? 0, sequence)) continue;
      const drafted =
        draft.get(record.id) ?? draft.put({ kind, before: record, after: record, subject: record, isPart: true });
      const changes = without(state);
      drafted.after = changes === null ? null : { ...state, ...changes };
      drafted.reasons.add(`scans created it for ${called(next.kind, next.subject)}, which is being deleted`);
      if (drafted.after === null) going.push(drafted);
    }
  }
}

/**
 * Refuses to remove records that others depend on. Ignore entries are removed as well, since nothing depends on them.
 */
export function refuseReferred(draft: RestoreDraft): void {
  for (const drafted of draft.all) {
    if (drafted.before === null || drafted.after !== null) continue;
    const found = new Map<AnyKind, Set<string>>();
    for (const referrer of referrersOf(draft.tx, drafted.kind, drafted.id)) {
      const state = draft.find(referrer.kind, referrer.record.id);
      if (state === null || !referrer.refers(state)) continue;
      if (referrer.kind.code === ignoredKind.code)
        draft.put({
          kind: ignoredKind,
          before: referrer.record,
          after: null,
          subject: state,
          isPart: true,
          reason: `it belongs to ${called(drafted.kind, drafted.subject)}, which is deleted`,
        });
      else found.set(referrer.kind, (found.get(referrer.kind) ?? new Set()).add(state.id));
    }
    if (found.size === 0) continue;
    const what = [...found].map(([kind, ids]) => countedEntities(kind, ids.size)).join(", ");
    draft.refuse(drafted, "in_use", `${called(drafted.kind, drafted.subject)} is now in use by ${what}`);
  }
}

/** Resolves references of restored records to current records. */
export class ReferenceResolution {
  private readonly draft: RestoreDraft;
  private readonly past: Past;
  private readonly sequence: number;
  private readonly actor: CommandActor;
  private readonly incarnations = new Map<string, string | null>();

  /** @param sequence the transaction that the draft's records are from */
  constructor(draft: RestoreDraft, past: Past, sequence: number, actor: CommandActor) {
    this.draft = draft;
    this.past = past;
    this.sequence = sequence;
    this.actor = actor;
  }

  /** Drops an unresolved reference if optional; otherwise refuses. */
  run(): void {
    for (const drafted of this.draft.all) {
      if (drafted.after === null || !isWritten(drafted)) continue;
      for (const reference of referencesOf(drafted.kind, drafted.after)) {
        for (const id of reference.ids) this.resolve(drafted, reference, id);
      }
    }
  }

  private resolve(drafted: Drafted, reference: ReferenceHeld, id: string): void {
    const { field } = reference;
    const to = this.draft.tx.kindNamed(reference.to);
    if (drafted.after === null || this.draft.find(to, id) !== null) return;
    const today = this.incarnation(to, id);
    // Hides ids of records that were out of the caller's reach.
    const isTold = this.actor.networkIds === null || !isFieldOfReach(drafted.kind, field);
    const what = isTold ? `${entityWord(to)} ${id}` : entityWord(to);
    if (today !== null) {
      drafted.after = { ...drafted.after, ...renamed(drafted.after, field, id, today) };
      drafted.reasons.add(`in ${field}, the ${what} is now ${isTold ? today : "another one"}`);
      return;
    }
    const gone = `the ${what} in ${field} is gone`;
    // An association requires both sides, and one restricted to addresses must never widen to all.
    const isAssociation = drafted.isPart && drafted.kind.code === credentialAssignmentKind.code;
    const changes = reference.refuses === true ? null : (reference.without?.(drafted.after, id) ?? null);
    if (changes !== null) {
      drafted.after = { ...drafted.after, ...changes };
      drafted.reasons.add(`${gone}, so it is left out`);
    } else if (isAssociation) {
      drafted.after = drafted.before;
      drafted.reasons.add(gone);
    } else {
      this.draft.refuse(drafted, "reference_gone", gone, field);
    }
  }

  /** Live record with the same identity as a deleted one; null if none. */
  private incarnation(kind: AnyKind, id: string): string | null {
    let found = this.incarnations.get(id);
    if (found === undefined) {
      found = this.lookUp(kind, id);
      this.incarnations.set(id, found);
    }
    return found;
  }

  private lookUp(kind: AnyKind, id: string): string | null {
    const n = this.draft.tx.recordN(id);
    const then = n === null ? null : this.past.at(n, this.sequence);
    const identity = then === null || then.kind.code !== kind.code ? null : liveIdentity(kind, then.record);
    return identity === null ? null : (this.draft.findByIdentity(kind, identity)?.id ?? null);
  }
}
