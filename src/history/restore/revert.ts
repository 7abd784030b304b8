// Reversal draft for a transaction: removes created records, restores changed fields, revives deleted records. Later
// changes to the same fields are conflicts. Read-only.

import type { CommandActor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { Past, PastRecord, WrittenVersion } from "../../db/writing/past.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { CHILD_KINDS, childrenOf } from "../../resources/consolidations/children.ts";
import { type CredentialRecord, credentialKind, SECRET_FIELDS } from "../../resources/credentials/credential.ts";
import { secretIn } from "../../resources/credentials/secrets.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { organizationKind } from "../../resources/organizations/organization.ts";
import { referencesOf, referrersOf } from "../../resources/references.ts";
import { userKind } from "../../resources/users/user.ts";
import { changedContent, RestoreDraft, withFormerContent } from "./draft.ts";
import { checkDraft } from "./draft-checks.ts";
import { removeIgnoreEntries } from "./draft-ignored.ts";
import { followScans, ReferenceResolution, refuseReferenced } from "./draft-references.ts";

/** Access permissions are not reverted: undoing another change must not restore a revoked permission. */
const ACCESS_KINDS: readonly AnyKind[] = [organizationKind, userKind, apiKeyKind];

/** Commands that move records between hosts. Scans write to both later, which must not block the revert. */
const MOVES: ReadonlySet<string> = new Set(["host.consolidate", "host.split"]);

/**
 * @param versions the transaction's versions
 * @throws DomainError entity_access_denied as an update of a credential would
 */
export function draftRevert(
  tx: WriteTransaction,
  past: Past,
  versions: readonly WrittenVersion[],
  sequence: number,
  actor: CommandActor,
): RestoreDraft {
  const draft = new RestoreDraft(tx);
  const isMove = MOVES.has(past.sourceOf(sequence) ?? "");
  // Skips the query for most moved records, which are unchanged since.
  const isOnlyScans = ({ kind, n, after }: WrittenVersion, live: RecordBase | null) =>
    isMove &&
    (live === null || after === null || kind.code === hostKind.code || changedContent(after.record, live).length > 0) &&
    past.isOnlyScannedSince(n, sequence);
  const deleted = new Set(versions.filter(({ after }) => after === null).map(({ id }) => id));
  for (const version of versions) {
    const { kind, id, before, after } = version;
    const live = tx.find(kind, id) as RecordBase | null;
    if (ACCESS_KINDS.some((each) => each.code === kind.code)) skipAccess(draft, version, live, deleted);
    else if (before === null && after !== null) undoCreation(draft, after, live, isOnlyScans(version, live));
    else if (before !== null && after === null) undoDeletion(draft, before, live);
    else if (before !== null && after !== null)
      undoUpdate(draft, { before, after, live, isOnlyScans: isOnlyScans(version, live) }, past, sequence);
  }
  if (isMove) {
    removeScanned(draft, past, sequence);
    followScans(draft, past, sequence);
  }
  removeIgnoreEntries(draft);
  refuseReferenced(draft);
  new ReferenceResolution(draft, past, sequence - 1, actor).run();
  checkDraft(draft, actor);
  return draft;
}

/** @param isOnlyScans discards later scan changes too */
function undoCreation(
  draft: RestoreDraft,
  { kind, record }: PastRecord,
  live: RecordBase | null,
  isOnlyScans: boolean,
): void {
  if (live === null) {
    draft.put({ kind, before: null, after: null, subject: record, reason: "it is already gone" });
    return;
  }
  const drafted = draft.put({ kind, before: live, after: null, subject: live });
  if (isOnlyScans) return;
  for (const field of changedContent(record, live))
    draft.refuse(drafted, "changed_later", `${field} was changed since`, field);
}

function undoDeletion(draft: RestoreDraft, { kind, record, observed }: PastRecord, live: RecordBase | null): void {
  if (live !== null) {
    draft.put({ kind, before: live, after: live, subject: live, reason: "it is already back" });
    return;
  }
  const drafted = draft.put({ kind, before: null, after: record, observed, subject: record });
  if (
    kind.code === credentialKind.code &&
    SECRET_FIELDS.some((field) => secretIn((record as CredentialRecord).credential_type, field)?.mode === "Inline")
  ) {
    const message = "its secrets were not kept: inline secrets are not in the history";
    draft.refuse(drafted, "secret_gone", message, "credential_type");
  }
}

/** A record changed by the transaction. */
interface ChangedRecord {
  readonly before: PastRecord;
  readonly after: PastRecord;
  readonly live: RecordBase | null;
  /** Whether to ignore later scan changes instead of reporting conflicts. */
  readonly isOnlyScans: boolean;
}

function undoUpdate(
  draft: RestoreDraft,
  { before: { kind, n, record: old }, after: { record: written }, live, isOnlyScans }: ChangedRecord,
  past: Past,
  sequence: number,
): void {
  const fields = changedContent(old, written);
  if (live === null) {
    const drafted = draft.put({ kind, before: null, after: null, subject: written });
    if (isOnlyScans) drafted.reasons.add("a scan has ended it since");
    // An owner with changes only in its parts has nothing to restore.
    else if (fields.length > 0) draft.refuse(drafted, "changed_later", "it was deleted since");
    return;
  }
  const drafted = draft.put({ kind, before: live, after: live, subject: live });
  if (isOnlyScans) {
    // On a formerly merged host, fields have no clear origin; on a moved record, they are its own.
    const isAsBefore = kind.code === hostKind.code && past.isOnlyWrittenByScansSince(n, sequence);
    const others = isAsBefore ? [] : changedContent(written, live).filter((name) => !fields.includes(name));
    drafted.after = withFormerContent(live, old, others);
    return;
  }
  const [changedSince, changedFromOld] = [changedContent(written, live), changedContent(old, live)];
  for (const field of fields)
    if (changedSince.includes(field) && changedFromOld.includes(field))
      draft.refuse(drafted, "changed_later", `${field} was changed again since`, field);
  const message = "the previous secret was not kept: secrets are not in the history";
  if (kind.code === credentialKind.code && fields.includes("secrets_updated_at"))
    draft.refuse(drafted, "secret_gone", message, "credential_type");
  const except = changedFromOld.filter((field) => !fields.includes(field));
  drafted.after = withFormerContent(live, old, except);
}

/**
 * Removes records that scans added since to a merged host or one of its halves: their origin is unknown, and the next
 * scan finds them in the right place. Records that users refer to are kept.
 */
function removeScanned(draft: RestoreDraft, past: Past, sequence: number): void {
  const { tx } = draft;
  const hosts = draft.all.filter(
    ({ kind, before, after }) => kind.code === hostKind.code && before !== null && after !== null,
  );
  for (const { id: hostId } of hosts) {
    for (const kind of CHILD_KINDS) {
      for (const record of childrenOf(tx, kind, hostId)) {
        const n = tx.recordN(record.id) ?? 0;
        if (draft.get(record.id) !== null || past.at(n, sequence) !== null || !past.isOnlyScannedSince(n, sequence))
          continue;
        const isReferenced = referrersOf(tx, kind, record.id).some(
          (each) => !past.isOnlyScannedSince(tx.recordN(each.record.id) ?? 0, sequence),
        );
        const reason = "a scan has found it since, and the next one will find it in its place";
        if (!isReferenced) draft.put({ kind, before: record, after: null, subject: record, isPart: true, reason });
      }
    }
  }
}

/**
 * Reports and skips a version that only lost references to records deleted in the transaction; any other change is a
 * conflict.
 */
function skipAccess(
  draft: RestoreDraft,
  { kind, before, after }: WrittenVersion,
  live: RecordBase | null,
  deleted: ReadonlySet<string>,
): void {
  const subject = (after ?? before) as PastRecord;
  const drafted = draft.put({ kind, before: live, after: live, subject: subject.record });
  const lostReferencesOnly =
    before !== null && after !== null && onlyLostReferences(kind, before.record, after.record, deleted);
  if (lostReferencesOnly) drafted.reasons.add("a revert does not change users and API keys: it stays unchanged");
  else {
    const message = "users, API keys and the organization are not reverted: change them directly";
    draft.refuse(drafted, "access_stays", message);
  }
}

/** Whether a version changed nothing but references to records deleted with it. */
function onlyLostReferences(
  kind: AnyKind,
  before: RecordBase,
  after: RecordBase,
  deleted: ReadonlySet<string>,
): boolean {
  const fields = changedContent(before, after);
  const references = referencesOf(kind, before);
  const onlyLost = (field: string) => {
    const previousIds = references.find((reference) => reference.field === field)?.ids ?? [];
    const remaining = previousIds.filter((id) => !deleted.has(id));
    return Bun.deepEquals(remaining, ownValue(after, field));
  };
  return fields.length > 0 && fields.every(onlyLost);
}
