// Reference checks of a draft in both directions: references to removed records, and references of restored records to
// missing ones. Same rules as for a removal: optional references are dropped, required ones are conflicts.

import type { CommandActor } from "../../access/actor.ts";
import { countedEntities, entityWord } from "../../base/entity-words.ts";
import { type AnyKind, liveIdentity, type RecordBase } from "../../db/kind.ts";
import type { Past } from "../../db/writing/past.ts";
import { dependsOnReach } from "../../records/disclosed-fields.ts";
import { replaceReference } from "../../resources/consolidations/renamed.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { ignoredKind } from "../../resources/ignored/ignored.ts";
import { type ReferenceHeld, referencesOf, referrersOf } from "../../resources/references.ts";
import { type DraftedRecord, isWritten, type RestoreDraft } from "./draft.ts";
import { recordPhrase } from "./plan.ts";

/** Removes records that refer to removed ones, or drops their reference. */
export function followRemovals(draft: RestoreDraft): void {
  follow(
    draft,
    () => true,
    (removed) => `it refers to ${removed}, which is deleted`,
  );
}

/**
 * Removes records that only scans created for removed ones, since the transaction that created these: the next scan
 * will find them again in the right place.
 */
export function followScans(draft: RestoreDraft, past: Past, sequence: number): void {
  follow(
    draft,
    ({ id }) => past.isOnlyScannedSince(draft.tx.recordN(id) ?? 0, sequence),
    (removed) => `scans created it for ${removed}, which is being deleted`,
  );
}

/** @param reasonFor from the phrase for a removed record */
function follow(
  draft: RestoreDraft,
  isFollowed: (referrer: RecordBase) => boolean,
  reasonFor: (removed: string) => string,
): void {
  const pending = draft.all.filter(({ before, after }) => before !== null && after === null);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const reason = reasonFor(recordPhrase(next.kind, next.subject));
    for (const { kind, record, refers, without } of referrersOf(draft.tx, next.kind, next.id)) {
      const state = draft.find(kind, record.id);
      if (state === null || !refers(state) || !isFollowed(record)) continue;
      const drafted =
        draft.get(record.id) ?? draft.put({ kind, before: record, after: record, subject: record, isPart: true });
      const changes = without(state);
      drafted.after = changes === null ? null : { ...state, ...changes };
      drafted.reasons.add(reason);
      if (drafted.after === null) pending.push(drafted);
    }
  }
}

/**
 * Refuses to remove records that others depend on. Ignore entries are removed as well, since nothing depends on them.
 */
export function refuseReferenced(draft: RestoreDraft): void {
  for (const drafted of draft.all) {
    if (drafted.before === null || drafted.after !== null) continue;
    const found = new Map<AnyKind, Set<string>>();
    for (const { kind, record, refers } of referrersOf(draft.tx, drafted.kind, drafted.id)) {
      const state = draft.find(kind, record.id);
      if (state === null || !refers(state)) continue;
      const reason = `it belongs to ${recordPhrase(drafted.kind, drafted.subject)}, which is deleted`;
      if (kind.code === ignoredKind.code)
        draft.put({ kind, before: record, after: null, subject: state, isPart: true, reason });
      else found.set(kind, (found.get(kind) ?? new Set()).add(state.id));
    }
    if (found.size === 0) continue;
    const what = [...found].map(([kind, ids]) => countedEntities(kind, ids.size)).join(", ");
    draft.refuse(drafted, "in_use", `${recordPhrase(drafted.kind, drafted.subject)} is now in use by ${what}`);
  }
}

/** Resolves references of restored records to current records. */
export class ReferenceResolution {
  private readonly draft: RestoreDraft;
  private readonly past: Past;
  private readonly sequence: number;
  private readonly actor: CommandActor;
  private readonly counterparts = new Map<string, string | null>();

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

  private resolve(drafted: DraftedRecord, reference: ReferenceHeld, id: string): void {
    const { field } = reference;
    const to = this.draft.tx.kindByName(reference.to);
    if (drafted.after === null || this.draft.find(to, id) !== null) return;
    const currentId = this.findCounterpart(to, id);
    // Hides ids of records that were out of the caller's reach.
    const isDisclosed = this.actor.networkIds === null || !dependsOnReach(drafted.kind, field);
    const what = isDisclosed ? `${entityWord(to)} ${id}` : entityWord(to);
    if (currentId !== null) {
      drafted.after = { ...drafted.after, ...replaceReference(drafted.after, field, id, currentId) };
      drafted.reasons.add(`in ${field}, the ${what} is now ${isDisclosed ? currentId : "another one"}`);
      return;
    }
    const message = `the ${what} in ${field} no longer exists`;
    // An association requires both sides, and one restricted to addresses must never widen to all.
    const isAssociation = drafted.isPart && drafted.kind.code === credentialAssignmentKind.code;
    const changes = reference.refuses === true ? null : (reference.without?.(drafted.after, id) ?? null);
    if (changes !== null) {
      drafted.after = { ...drafted.after, ...changes };
      drafted.reasons.add(`${message}, so it is omitted`);
    } else if (isAssociation) {
      drafted.after = drafted.before;
      drafted.reasons.add(message);
    } else {
      this.draft.refuse(drafted, "reference_gone", message, field);
    }
  }

  /** Live record with the same identity as a deleted one; null if none. */
  private findCounterpart(kind: AnyKind, id: string): string | null {
    let found = this.counterparts.get(id);
    if (found === undefined) {
      found = this.lookUp(kind, id);
      this.counterparts.set(id, found);
    }
    return found;
  }

  private lookUp(kind: AnyKind, id: string): string | null {
    const n = this.draft.tx.recordN(id);
    const pastRecord = n === null ? null : this.past.at(n, this.sequence);
    const identity =
      pastRecord === null || pastRecord.kind.code !== kind.code ? null : liveIdentity(kind, pastRecord.record);
    return identity === null ? null : (this.draft.findByIdentity(kind, identity)?.id ?? null);
  }
}
