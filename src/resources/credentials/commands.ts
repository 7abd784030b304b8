// Writer commands for credentials and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization } from "../../access/reach.ts";
import { type Issue, invalid } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { SecretBox } from "../../base/secret-box.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { fromCheckedBody } from "../checked-bytes.ts";
import { setCredentialAssignments } from "../credential-assignments/assignments.ts";
import { assertReachesCredential, credentialOutOfReach, reachesCredential } from "../credential-assignments/reach.ts";
import { removeOne } from "../ignored/removal.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { existingTags } from "../tags/tag.ts";
import {
  type CredentialCreate,
  type CredentialType,
  type CredentialUpdate,
  credentialKind,
  SECRET_FIELDS,
  SECRET_MASK,
  USM_PASSWORD_MIN_LENGTH,
} from "./credential.ts";
import {
  masked,
  newSecrets,
  type SealedSecrets,
  secretChange,
  secretIn,
  sendsSecret,
  storedSecrets,
  storeSecrets,
} from "./secrets.ts";

/**
 * A confined caller must assign a new credential within their networks; otherwise they could not change it later.
 * @param box seals the secrets
 */
function createCredential(
  tx: WriteTransaction,
  input: { body: CredentialCreate },
  actor: CommandActor,
  box: SecretBox,
): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  assertUsable(body.credential_type, new Map());
  const credential = createRecord(tx, credentialKind, body, actor, {
    organization_id: actor.organizationId,
    name: body.name,
    credential_type: masked(body.credential_type),
    tags: existingTags(tx, body.tags, actor),
    target_ips: deduplicated(body.target_ips ?? null),
    secrets_updated_at: formatInstant(tx.instant),
  });
  setCredentialAssignments(tx, credential.id, body, actor);
  assertReachesCredential(tx, credential.id, actor);
  storeSecrets(tx, box, credential.id, newSecrets(body.credential_type));
  return credential;
}

/** @param box seals the secrets */
function updateCredential(
  tx: WriteTransaction,
  input: ChangeInput<CredentialUpdate>,
  actor: CommandActor,
  box: SecretBox,
): Written {
  const { id, body } = input;
  const credential = recordToUpdate(tx, credentialKind, input, actor, ["id"]);
  const mayChange = reachesCredential(tx, id, actor);
  // Checked first, so that no other error reveals anything about the credential.
  if (sendsSecret(body.credential_type) && !mayChange) throw credentialOutOfReach(id);
  assertUsable(body.credential_type, storedSecrets(tx, id));
  const change = secretChange(credential.credential_type, body.credential_type);
  const updated = tx.update(credentialKind, id, {
    name: body.name,
    credential_type: masked(body.credential_type),
    tags: existingTags(tx, body.tags, actor),
    ...(body.target_ips === undefined ? {} : { target_ips: deduplicated(body.target_ips) }),
    ...(change.isChanged ? { secrets_updated_at: formatInstant(tx.instant) } : {}),
  });
  // Masks look alike, so mark the change of the secret explicitly.
  if (change.isChanged) tx.touch(credentialKind, id, "credential_type");
  const isReassigned = setCredentialAssignments(tx, id, body, actor);
  // Callers may send back what they read.
  if (!mayChange && (isReassigned || tx.isChanged(id))) throw credentialOutOfReach(id);
  storeSecrets(tx, box, id, change);
  return updated;
}

/** @throws DomainError validation_failed for secrets that are missing, excess or too short, with every issue */
function assertUsable(type: CredentialType, stored: SealedSecrets): void {
  const issues: Issue[] = [];
  for (const field of SECRET_FIELDS) {
    const secret = secretIn(type, field);
    if (secret?.mode === "Inline" && secret.value === SECRET_MASK && !stored.has(field)) {
      issues.push({
        path: `/credential_type/${field}/value`,
        message: "is the mask of a stored secret, but none is stored: send the secret itself",
      });
    }
  }
  if (type.type === "SnmpV3") issues.push(...usmIssues(type));
  if (issues.length > 0) throw invalid(issues);
}

/**
 * SNMPv3 security levels are noAuthNoPriv, authNoPriv and authPriv (RFC 3411 §3.4.3): no privacy without
 * authentication.
 */
function usmIssues(type: CredentialType & { type: "SnmpV3" }): Issue[] {
  const issues: Issue[] = [];
  if (type.auth_protocol === "None" && type.priv_protocol !== "None") {
    issues.push({
      path: "/credential_type/priv_protocol",
      message: "must be None if auth_protocol is None",
      value: type.priv_protocol,
    });
  }
  for (const [field, protocolField] of [
    ["auth_password", "auth_protocol"],
    ["priv_password", "priv_protocol"],
  ] as const) {
    const secret = type[field];
    const path = `/credential_type/${field}`;
    if (type[protocolField] === "None") {
      if (secret !== undefined) issues.push({ path, message: `must be omitted if ${protocolField} is None` });
    } else if (secret === undefined) {
      issues.push({ path, message: `is required if ${protocolField} is not None` });
    } else if (secret.mode === "Inline" && [...secret.value].length < USM_PASSWORD_MIN_LENGTH) {
      issues.push({
        path: `${path}/value`,
        message: `must have ${USM_PASSWORD_MIN_LENGTH} or more characters (RFC 3414 §11.2)`,
      });
    }
  }
  return issues;
}

/** Deduplicates addresses. */
function deduplicated(ips: readonly string[] | null): string[] | null {
  return ips === null ? null : [...new Set(ips)];
}

/** The sealed secrets are deleted with the live row. */
const removeCredential = removeOne(credentialKind, (tx, credential, actor) =>
  assertReachesCredential(tx, credential.id, actor),
);

export const credentialCommands = {
  "credential.create": fromCheckedBody(createCredential),
  "credential.update": fromCheckedBody(updateCredential),
  "credential.delete": markLongRunning(removeCredential),
  "credential.bulk_delete": removeEach(credentialKind, removeCredential),
};
export type CredentialCommands = CallsOf<typeof credentialCommands>;
