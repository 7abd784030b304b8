// Writer commands for tag assignment. Permission to write a record includes its tags.

import { type CommandActor, requireRole, requireSession } from "../../access/actor.ts";
import { findReachable } from "../../access/reach.ts";
import type { Role } from "../../access/role.ts";
import { entityWords } from "../../base/entity-words.ts";
import { type Issue, invalid, referenceInvalid } from "../../base/errors.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { type CallsOf, type Conditional, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { apiKeyKind } from "../api-keys/api-key.ts";
import { findWritableKey } from "../api-keys/writable-key.ts";
import { assertReachesCredential } from "../credential-assignments/reach.ts";
import { credentialKind } from "../credentials/credential.ts";
import { hostKind } from "../hosts/host.ts";
import { ipRangeKind } from "../ip-ranges/ip-range.ts";
import { networkKind } from "../networks/network.ts";
import { serviceKind } from "../services/service.ts";
import { subnetKind } from "../subnets/subnet.ts";
import { existingTags } from "../tags/tag.ts";
import {
  ASSIGNED_TAGS_MAX,
  type AssignedTags,
  type BulkAssignedTag,
  type TagAssignment,
  type TagBulkAssignment,
  type TaggedType,
} from "./tag-assignment.ts";

interface Tagged extends RecordBase {
  readonly tags: readonly string[];
}

interface Rule {
  readonly kind: AnyKind;
  /** Minimum role for writing such a record. */
  readonly role: Role;
}

const RULES: Readonly<Record<TaggedType, Rule>> = {
  host: { kind: hostKind, role: "Member" },
  service: { kind: serviceKind, role: "Member" },
  subnet: { kind: subnetKind, role: "Member" },
  ip_range: { kind: ipRangeKind, role: "Member" },
  network: { kind: networkKind, role: "Admin" },
  credential: { kind: credentialKind, role: "Admin" },
  api_key: { kind: apiKeyKind, role: "Member" },
};

/**
 * Sets a record's tags to those of the body, in their order.
 * @param input.ifMatch checked against the record's version
 * @throws DomainError auth_permission_denied, auth_session_required, entity_reference_invalid, entity_access_denied,
 * precondition_failed
 */
export function assignTags(
  tx: WriteTransaction,
  input: Conditional & { body: TagAssignment },
  actor: CommandActor,
): AssignedTags {
  const { entity_type, entity_id, tag_ids } = input.body;
  assertMayWrite(entity_type, actor);
  getTagged(tx, entity_type, [entity_id], "entity_id", actor);
  assertVersion(input.ifMatch, tx.versionOf(entity_id));
  const tags = existingTags(tx, tag_ids, actor, "tag_ids");
  setTags(tx, entity_type, entity_id, tags, actor);
  return { entity_type, entity_id, tag_ids: tags };
}

/**
 * Appends a tag to records.
 * @throws DomainError auth_permission_denied, auth_session_required, entity_reference_invalid, entity_access_denied;
 * validation_failed for every record with the maximum number of tags
 */
export function addTag(tx: WriteTransaction, input: { body: TagBulkAssignment }, actor: CommandActor): BulkAssignedTag {
  const { tag_id } = input.body;
  const records = getRecords(tx, input.body, actor);
  const untagged = records.filter((record) => !record.tags.includes(tag_id));
  const issues: Issue[] = untagged
    .filter((record) => record.tags.length >= ASSIGNED_TAGS_MAX)
    .map((record) => ({
      path: `/entity_ids/${input.body.entity_ids.indexOf(record.id)}`,
      message: `already has ${record.tags.length} tags, the maximum`,
      value: record.id,
    }));
  if (issues.length > 0) throw invalid(issues);
  return applyChange(tx, input.body, actor, records, untagged, (tags) => [...tags, tag_id]);
}

/**
 * Removes a tag from records.
 * @throws DomainError auth_permission_denied, auth_session_required, entity_reference_invalid, entity_access_denied
 */
function removeTag(tx: WriteTransaction, input: { body: TagBulkAssignment }, actor: CommandActor): BulkAssignedTag {
  const { tag_id } = input.body;
  const records = getRecords(tx, input.body, actor);
  const tagged = records.filter((record) => record.tags.includes(tag_id));
  return applyChange(tx, input.body, actor, records, tagged, (tags) => tags.filter((each) => each !== tag_id));
}

/** Depends on the kind alone; checked before any record is read. */
function assertMayWrite(type: TaggedType, actor: CommandActor): void {
  const action = `Assigning tags to ${entityWords(RULES[type].kind)}`;
  if (type === "api_key") requireSession(actor, action);
  requireRole(actor.role, RULES[type].role, action);
}

function getRecords(tx: WriteTransaction, body: TagBulkAssignment, actor: CommandActor): Tagged[] {
  assertMayWrite(body.entity_type, actor);
  const records = getTagged(tx, body.entity_type, body.entity_ids, "entity_ids", actor);
  existingTags(tx, [body.tag_id], actor, "tag_id");
  return records;
}

/** Distinct records in the given order. Unknown, foreign and unreachable ids cause the same error. */
function getTagged(
  tx: WriteTransaction,
  type: TaggedType,
  ids: readonly string[],
  field: string,
  actor: CommandActor,
): Tagged[] {
  const records: Tagged[] = [];
  const unreachable: string[] = [];
  for (const id of new Set(ids)) {
    const record: Tagged | null =
      type === "api_key" ? findWritableKey(tx, id, actor) : findReachable(tx, RULES[type].kind, id, actor);
    if (record === null) unreachable.push(id);
    else records.push(record);
  }
  if (unreachable.length > 0) throw referenceInvalid(RULES[type].kind, field, unreachable);
  return records;
}

/** Credentials belong to the organization, so permission to assign tags is not enough for them. */
function setTags(
  tx: WriteTransaction,
  type: TaggedType,
  id: string,
  tags: readonly string[],
  actor: CommandActor,
): void {
  tx.update(RULES[type].kind, id, { tags });
  if (type === "credential" && tx.isChanged(id)) assertReachesCredential(tx, id, actor);
}

function applyChange(
  tx: WriteTransaction,
  body: TagBulkAssignment,
  actor: CommandActor,
  records: readonly Tagged[],
  affected: readonly Tagged[],
  tagsOf: (tags: readonly string[]) => string[],
): BulkAssignedTag {
  for (const record of affected) setTags(tx, body.entity_type, record.id, tagsOf(record.tags), actor);
  return {
    entity_type: body.entity_type,
    entity_ids: records.map((record) => record.id),
    tag_id: body.tag_id,
    changed_ids: affected.map((record) => record.id),
  };
}

export const tagAssignmentCommands = {
  "tag.assign": assignTags,
  "tag.bulk_add": markLongRunning(addTag),
  "tag.bulk_remove": markLongRunning(removeTag),
};
export type TagAssignmentCommands = CallsOf<typeof tagAssignmentCommands>;
