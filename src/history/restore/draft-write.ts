// Draft writer, for drafts without conflicts, as one unit of work. Makes no decisions.

import type { CommandActor } from "../../access/actor.ts";
import { CUSTOM_FIELDS, customFieldKey } from "../../base/custom-field-names.ts";
import { ownValue } from "../../base/fields.ts";
import type { OwnFields, RecordBase } from "../../db/kind.ts";
import { changedOwnFields } from "../../db/writing/entry.ts";
import { apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { updateApiKey } from "../../resources/api-keys/commands.ts";
import { type CredentialRecord, credentialKind, SECRET_FIELDS } from "../../resources/credentials/credential.ts";
import { deleteSecrets, secretIn } from "../../resources/credentials/secrets.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { updateUser } from "../../resources/users/commands.ts";
import { userKind } from "../../resources/users/user.ts";
import { type DraftedRecord, isWritten, type RestoreDraft } from "./draft.ts";
import { keyUpdate, userUpdate } from "./draft-checks.ts";

/**
 * Writes each record with its side effects: a restored record keeps its id, an account its password, a credential its
 * remaining secrets.
 * @throws DomainError like the commands for users and API keys
 */
export function writeDraft(draft: RestoreDraft, actor: CommandActor): void {
  const { tx } = draft;
  const written = draft.all.filter(isWritten);
  for (const drafted of written) {
    const { kind, id, before, after, observed } = drafted;
    if (before === null) tx.revive(kind, actor.organizationId, after as RecordBase, { observed });
    else if (after === null) tx.remove(kind, id);
    else update(draft, drafted, before, after, actor);
  }
  for (const id of affectedInterfaces(written)) {
    if (tx.find(ifEntryKind, id) !== null)
      tx.setComposed(ifEntryKind, id, tx.children(fdbEntryKind, "if_entry_n", id).length > 0);
  }
}

function update(
  draft: RestoreDraft,
  { kind, id }: DraftedRecord,
  before: RecordBase,
  after: RecordBase,
  actor: CommandActor,
): void {
  const { tx } = draft;
  const unlocked = { id, ifMatch: null };
  if (kind.code === userKind.code) updateUser(tx, { ...unlocked, body: userUpdate(after), passwordHash: null }, actor);
  else if (kind.code === apiKeyKind.code) updateApiKey(tx, { ...unlocked, body: keyUpdate(before, after) }, actor);
  else {
    if (kind.code === credentialKind.code) deleteUnusedSecrets(draft, after as CredentialRecord);
    const fields = after as unknown as Record<string, unknown>;
    const names = changedOwnFields(before, after).map((name) => (customFieldKey(name) === null ? name : CUSTOM_FIELDS));
    const changes = Object.fromEntries(names.map((name) => [name, ownValue(fields, name)]));
    tx.update(kind, id, changes as Partial<OwnFields<RecordBase>>);
  }
}

/** Deletes stored secrets that the credential no longer has, as any update does. */
function deleteUnusedSecrets({ tx }: RestoreDraft, { id, credential_type: type }: CredentialRecord): void {
  const unused = SECRET_FIELDS.filter((field) => secretIn(type, field)?.mode !== "Inline");
  deleteSecrets(tx, id, unused);
}

/** Interface entries whose forwarding entries change. */
function affectedInterfaces(written: readonly DraftedRecord[]): Set<string> {
  const entries = written.filter(({ kind }) => kind.code === fdbEntryKind.code);
  return new Set(
    entries
      .map(({ subject }) => (subject as FdbEntryRecord).if_entry_id)
      .concat(entries.flatMap(({ after }) => (after === null ? [] : [(after as FdbEntryRecord).if_entry_id]))),
  );
}
