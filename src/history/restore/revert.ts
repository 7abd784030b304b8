// Drafts what undoes a transaction: what it created goes, the fields that it changed get their values back, what it
// deleted comes back. Whatever came later stands in the way where it touched the same. Must not write.

import type { CommandActor } from "../../access/actor.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { type CredentialRecord, credentialKind, SECRET_FIELDS } from "../../resources/credentials/credential.ts";
import { secretIn } from "../../resources/credentials/secrets.ts";
import { organizationKind } from "../../resources/organizations/organization.ts";
import { referencesOf } from "../../resources/references.ts";
import { userKind } from "../../resources/users/user.ts";
import { asItWas, changedContent, RestoreDraft } from "./draft.ts";
import { checkDraft } from "./draft-checks.ts";
import { endIgnoring } from "./draft-ignored.ts";
import { ReferenceResolution, refuseReferred } from "./draft-references.ts";
import type { Past, PastRecord, WrittenVersion } from "./past.ts";

/** Who may do what is not undone: a right that was taken is not given back in passing. */
const ACCESS_KINDS: readonly AnyKind[] = [organizationKind, userKind, apiKeyKind];

/**
 * @param versions what the transaction did
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
  const deleted = new Set(versions.filter(({ after }) => after === null).map(({ id }) => id));
  for (const version of versions) {
    const { kind, id, before, after } = version;
    const live = tx.find(kind, id) as RecordBase | null;
    if (ACCESS_KINDS.some((each) => each.code === kind.code)) leaveAccess(draft, version, live, deleted);
    else if (before === null && after !== null) undoCreation(draft, after, live);
    else if (before !== null && after === null) undoDeletion(draft, before, live);
    else if (before !== null && after !== null) undoUpdate(draft, before, after, live);
  }
  endIgnoring(draft);
  refuseReferred(draft);
  new ReferenceResolution(draft, past, sequence - 1).run();
  checkDraft(draft, actor);
  return draft;
}

function undoCreation(draft: RestoreDraft, { kind, record }: PastRecord, live: RecordBase | null): void {
  if (live === null) {
    draft.put({ kind, before: null, after: null, subject: record, reason: "it is already gone" });
    return;
  }
  const drafted = draft.put({ kind, before: live, after: null, subject: live });
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
    draft.refuse(
      drafted,
      "secret_gone",
      "its secrets were not kept: inline secrets are not in the history",
      "credential_type",
    );
  }
}

function undoUpdate(
  draft: RestoreDraft,
  { kind, record: old }: PastRecord,
  { record: made }: PastRecord,
  live: RecordBase | null,
): void {
  const fields = changedContent(old, made);
  if (live === null) {
    const drafted = draft.put({ kind, before: null, after: null, subject: made });
    // A whole of which only parts were changed has nothing of its own to get back.
    if (fields.length > 0) draft.refuse(drafted, "changed_later", "it was deleted since");
    return;
  }
  const drafted = draft.put({ kind, before: live, after: live, subject: live });
  const [sinceThen, fromOld] = [changedContent(made, live), changedContent(old, live)];
  for (const field of fields)
    if (sinceThen.includes(field) && fromOld.includes(field))
      draft.refuse(drafted, "changed_later", `${field} was changed again since`, field);
  if (kind.code === credentialKind.code && fields.includes("secrets_updated_at"))
    draft.refuse(
      drafted,
      "secret_gone",
      "the previous secret was not kept: secrets are not in the history",
      "credential_type",
    );
  drafted.after = asItWas(
    live,
    old,
    fromOld.filter((field) => !fields.includes(field)),
  );
}

/**
 * What took a reference off because the transaction deleted its target is reported and left; anything more stands in
 * the way.
 */
function leaveAccess(
  draft: RestoreDraft,
  { kind, before, after }: WrittenVersion,
  live: RecordBase | null,
  deleted: ReadonlySet<string>,
): void {
  const subject = (after ?? before) as PastRecord;
  const drafted = draft.put({ kind, before: live, after: live, subject: subject.record });
  const isInPassing = before !== null && after !== null && onlyLost(kind, before.record, after.record, deleted);
  if (isInPassing) drafted.reasons.add("a revert does not change users and API keys: it stays unchanged");
  else
    draft.refuse(
      drafted,
      "access_stays",
      "users, API keys and the organization are not reverted: change them directly",
    );
}

/** Whether all that a version changed is references to records that were deleted with it. */
function onlyLost(kind: AnyKind, before: RecordBase, after: RecordBase, deleted: ReadonlySet<string>): boolean {
  const fields = changedContent(before, after);
  const references = referencesOf(kind, before);
  return (
    fields.length > 0 &&
    fields.every((field) => {
      const had = references.find((reference) => reference.field === field)?.ids ?? [];
      const has = (after as unknown as Record<string, unknown>)[field];
      return Bun.deepEquals(
        had.filter((id) => !deleted.has(id)),
        has,
      );
    })
  );
}
