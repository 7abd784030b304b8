// Restore draft for a record as of a transaction, including its parts. Matches each part with a live one by id,
// otherwise by identity. Read-only.

import type { CommandActor } from "../../access/actor.ts";
import { reachesNetwork } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { ownValue } from "../../base/fields.ts";
import { formatInstant } from "../../base/instant.ts";
import { type AnyKind, liveIdentity, type RecordBase } from "../../db/kind.ts";
import type { Past, PastRecord } from "../../db/writing/past.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { KINDS } from "../../records/resources.ts";
import { apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { replaceReferences } from "../../resources/consolidations/renamed.ts";
import {
  type CredentialAssignmentRecord,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import { reachesCredential } from "../../resources/credential-assignments/reach.ts";
import { type CredentialRecord, credentialKind, SECRET_FIELDS } from "../../resources/credentials/credential.ts";
import { secretIn, storedSecrets } from "../../resources/credentials/secrets.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { userKind } from "../../resources/users/user.ts";
import { type DraftedRecord, isWritten, RestoreDraft, withFormerContent } from "./draft.ts";
import { checkDraft } from "./draft-checks.ts";
import { removeIgnoreEntries } from "./draft-ignored.ts";
import { followRemovals, ReferenceResolution } from "./draft-references.ts";

/**
 * Kinds restored with their parts. A network's parts would be the whole inventory, and a user's keys cannot be
 * restored.
 */
const WITH_PARTS = new Set([hostKind.name, credentialKind.name, ifEntryKind.name, serviceKind.name]);

/** Fields that describe the current state instead of the record's content. */
const CURRENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  // Time of the current secret.
  [credentialKind.name]: ["secrets_updated_at"],
  // Mask of the current key.
  [apiKeyKind.name]: ["key"],
};

/**
 * @param subject the record at that time
 * @param sequence the transaction that `subject` is from
 * @throws DomainError auth_permission_denied, entity_access_denied as the record's own update would
 */
export function draftRestore(
  tx: WriteTransaction,
  past: Past,
  subject: PastRecord,
  sequence: number,
  actor: CommandActor,
): RestoreDraft {
  return new Restore(tx, past, subject, sequence, actor).run();
}

class Restore {
  private readonly tx: WriteTransaction;
  private readonly past: Past;
  private readonly subject: PastRecord;
  private readonly sequence: number;
  private readonly actor: CommandActor;
  private readonly draft: RestoreDraft;
  /** Current ids of parts recreated since. */
  private readonly currentIdOf = new Map<string, string>();

  constructor(tx: WriteTransaction, past: Past, subject: PastRecord, sequence: number, actor: CommandActor) {
    this.tx = tx;
    this.past = past;
    this.subject = subject;
    this.sequence = sequence;
    this.actor = actor;
    this.draft = new RestoreDraft(tx);
  }

  run(): RestoreDraft {
    const { draft, subject } = this;
    const { kind, record, observed } = subject;
    const live = this.tx.find(kind, record.id) as RecordBase | null;
    // A part restored alone stays with its current host: records that depend on it there would lose it.
    const keptFields = [
      ...(ownValue(CURRENT_FIELDS, kind.name) ?? []),
      ...(kind.scopes.host === undefined ? [] : ["host_id"]),
    ];
    const after = live === null ? record : withFormerContent(live, record, keptFields);
    const root = draft.put({ kind, before: live, after, observed, subject: record });
    if (kind.code === credentialKind.code) this.secrets(root);
    if (live === null && (kind.code === userKind.code || kind.code === apiKeyKind.code)) {
      root.after = null;
      const secret = kind.code === userKind.code ? "the password" : "the key itself";
      const message = `${secret} was deleted with the record and is not in the history: create a new record`;
      draft.refuse(root, "secret_gone", message);
      return draft;
    }
    for (const part of partsOf(kind)) this.parts(part, `${kind.name}_n`, live !== null);
    removeIgnoreEntries(draft);
    followRemovals(draft);
    new ReferenceResolution(draft, this.past, this.sequence, this.actor).run();
    checkDraft(draft, this.actor);
    return draft;
  }

  /** @param isAlive whether the owner is live, and so may have parts */
  private parts(kind: AnyKind, column: string, isAlive: boolean): void {
    const { draft, subject } = this;
    const isVisible = (record: RecordBase) =>
      kind.code !== credentialAssignmentKind.code || this.isReached(record as CredentialAssignmentRecord);
    const hostId = (this.draft.get(subject.record.id)?.after as { host_id?: string } | null)?.host_id;
    const former = this.past
      .membersAt(subject.n, kind, this.sequence)
      .filter(({ record }) => isVisible(record))
      .map((part) => (hostId === undefined ? part : { ...part, record: { ...part.record, host_id: hostId } }));
    const children = isAlive ? (this.tx.children(kind, column, subject.record.id) as RecordBase[]) : [];
    const liveById = new Map(children.filter(isVisible).map((record) => [record.id, record]));
    const missingParts = former.filter(({ record }) => !liveById.has(record.id));
    const restored: DraftedRecord[] = [];
    for (const { record } of former) {
      const live = liveById.get(record.id);
      if (live === undefined) continue;
      liveById.delete(record.id);
      const after = withFormerContent(live, record);
      restored.push(draft.put({ kind, before: live, after, subject: record, isPart: true }));
    }
    const liveByIdentity = new Map([...liveById.values()].map((record) => [liveIdentity(kind, record), record]));
    for (const { record, observed } of missingParts) {
      const elsewhere = this.tx.find(kind, record.id) as RecordBase | null;
      if (elsewhere !== null) {
        const reason = "it has moved to another host since";
        const after = withFormerContent(elsewhere, record);
        restored.push(draft.put({ kind, before: elsewhere, after, subject: elsewhere, isPart: true, reason }));
        continue;
      }
      const current = this.withCurrentIds(kind, record);
      const recreated = liveByIdentity.get(liveIdentity(kind, current));
      if (recreated === undefined) {
        restored.push(draft.put({ kind, before: null, after: record, observed, subject: record, isPart: true }));
        continue;
      }
      liveById.delete(recreated.id);
      this.currentIdOf.set(record.id, recreated.id);
      const after = withFormerContent(recreated, current);
      const reason = `it was created again since: its id was ${record.id}`;
      restored.push(draft.put({ kind, before: recreated, after, subject: recreated, isPart: true, reason }));
    }
    for (const record of liveById.values()) {
      const isNew = this.past.at(this.tx.recordN(record.id) ?? 0, this.sequence) === null;
      const after = isNew ? null : record;
      const reason = isNew ? "it was created since" : "it has come from another host since, and stays";
      restored.push(draft.put({ kind, before: record, after, subject: record, isPart: true, reason }));
    }
    if (kind.code === credentialAssignmentKind.code && subject.kind.code === hostKind.code)
      for (const each of restored) this.keepUnassignable(each);
  }

  /**
   * Sending a credential to a self-chosen address would disclose it, so restoring an assignment requires permission to
   * assign the credential.
   */
  private keepUnassignable(assignment: DraftedRecord): void {
    const { credential_id: id } = assignment.subject as CredentialAssignmentRecord;
    if (!atLeast(this.actor.role, "Admin")) keepUnchanged(assignment, "assigning credentials requires the role Admin");
    else if (this.tx.find(credentialKind, id) !== null && !reachesCredential(this.tx, id, this.actor))
      keepUnchanged(assignment, "the credential is not assigned only within the caller's networks");
  }

  /** Replaces ids of recreated parts by their current ones. */
  private withCurrentIds(kind: AnyKind, record: RecordBase): RecordBase {
    return this.currentIdOf.size === 0
      ? record
      : replaceReferences(kind, record, (id) => this.currentIdOf.get(id) ?? id);
  }

  /** Assignments in networks beyond the caller's reach stay unchanged and unreported. */
  private isReached(assignment: CredentialAssignmentRecord): boolean {
    return reachesNetwork(this.actor, assignment.network_id);
  }

  /** Inline secrets are never in history: the current ones are kept, if any. */
  private secrets(root: DraftedRecord): void {
    const [before, after] = [root.before as CredentialRecord | null, root.after as CredentialRecord];
    const inline = SECRET_FIELDS.filter((field) => secretIn(after.credential_type, field)?.mode === "Inline");
    const stored = before === null ? new Map() : storedSecrets(this.tx, root.id);
    const missing = inline.filter((field) => !stored.has(field));
    const message = `the ${missing.join(" and the ")} was not kept: inline secrets are not in the history`;
    if (missing.length > 0) this.draft.refuse(root, "secret_gone", message, "credential_type");
    if (before === null) return;
    const former = this.subject.record as CredentialRecord;
    if (inline.length > 0 && former.secrets_updated_at !== before.secrets_updated_at)
      root.reasons.add(`the ${inline.join(" and the ")} stays the current one: inline secrets are not in the history`);
    const dropped = SECRET_FIELDS.filter((field) => stored.has(field) && !inline.includes(field));
    if (dropped.length > 0)
      root.reasons.add(
        `the current ${dropped.join(" and ")} is lost permanently: inline secrets are not in the history`,
      );
    const hasOtherSecrets = SECRET_FIELDS.some(
      (field) => !Bun.deepEquals(secretIn(before.credential_type, field), secretIn(after.credential_type, field)),
    );
    if (hasOtherSecrets)
      root.after = { ...after, secrets_updated_at: formatInstant(this.tx.instant) } as CredentialRecord;
  }
}

/** Resets a part that the caller may not change. @param reason the required permission */
function keepUnchanged(drafted: DraftedRecord, reason: string): void {
  const changes = isWritten(drafted);
  drafted.after = drafted.before;
  drafted.reasons.clear();
  if (changes) drafted.reasons.add(`${reason}: it stays unchanged`);
}

/** In order of kind codes: a part only refers to parts before it. */
function partsOf(kind: AnyKind): AnyKind[] {
  if (!WITH_PARTS.has(kind.name)) return [];
  return KINDS.filter(({ scopes }) => Object.hasOwn(scopes, kind.name));
}
