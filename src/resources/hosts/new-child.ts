// Common checks for a new child of a host of any kind: host, limit, position and id.
// Independent of the fields of any kind.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReferenced } from "../../access/reach.ts";
import { entityWords } from "../../base/entity-words.ts";
import { type Issue, invalid } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Kind, Observed, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { CHILDREN_MAX, INT32_MAX } from "../../schemas/schemas.ts";
import type { SharedLookups } from "../shared-lookups.ts";
import { type HostRecord, hostKind } from "./host.ts";

/**
 * Resolves the host of a create.
 * @throws DomainError entity_access_denied; entity_reference_invalid; validation_failed for a `network_id` other than
 * the host's
 */
export function referencedHost(
  tx: WriteTransaction,
  body: { readonly host_id: string; readonly network_id?: string; readonly organization_id?: string },
  actor: CommandActor,
): HostRecord {
  assertOwnOrganization(body.organization_id, actor);
  const host = getReferenced(tx, hostKind, [body.host_id], "host_id", actor)[0] as HostRecord;
  assertSameIds(host, { network_id: body.network_id }, ["network_id"]);
  return host;
}

/**
 * The siblings of a new record. The caller appends the new record.
 * @param shared caches siblings across the records of one write
 * @param column of the kind's live table that references the parent: `host_n`
 * @throws DomainError validation_failed if there are already CHILDREN_MAX siblings
 */
export function siblingsBelowLimit<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  column: string,
  parentId: string,
  shared?: SharedLookups,
): R[] {
  const load = () => tx.children(kind, column, parentId);
  const siblings = shared === undefined ? load() : shared.of(`${kind.plural} of ${parentId}`, load);
  if (siblings.length < CHILDREN_MAX) return siblings;
  throw invalid({
    path: `/${column.replace(/_n$/, "_id")}`,
    message: `already has ${CHILDREN_MAX} ${entityWords(kind)}, the maximum`,
    value: parentId,
  });
}

/**
 * Issues with the parent ids of a list item: they must equal the host's.
 * @param pointer of the item: `/ports/3`
 */
export function mismatchedParentIds(item: ParentIds, own: Required<ParentIds>, pointer: string): Issue[] {
  const issues: Issue[] = [];
  if (item.host_id !== undefined && item.host_id !== own.host_id)
    issues.push({ path: `${pointer}/host_id`, message: "must be the host's own id", value: item.host_id });
  if (item.network_id !== undefined && item.network_id !== own.network_id) {
    issues.push({
      path: `${pointer}/network_id`,
      message: "must be the host's own network_id",
      value: item.network_id,
    });
  }
  return issues;
}

interface ParentIds {
  readonly host_id?: string | undefined;
  readonly network_id?: string | undefined;
}

/** The position after the last sibling. */
export function nextPosition(siblings: ReadonlyArray<{ readonly position: number }>): number {
  const last = siblings.reduce((highest, { position }) => Math.max(highest, position), -1);
  return Math.min(last + 1, INT32_MAX);
}

/** Options of a record created by a client: its id, and the present as last seen. */
export function createOptions(
  tx: WriteTransaction,
  item: { readonly id?: string },
): { id?: string; observed: Observed } {
  return { ...(item.id === undefined ? {} : { id: item.id }), observed: { last_seen_at: formatInstant(tx.instant) } };
}
