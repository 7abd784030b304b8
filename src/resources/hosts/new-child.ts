// What it takes to enter a child of a host, of whatever kind: the host that the body names, room, a place, an id.
// Must not know what any kind of child says of itself.

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
 * The host that a create names.
 * @throws DomainError entity_access_denied; entity_reference_invalid; validation_failed for a `network_id` that is not
 * the host's
 */
export function hostNamed(
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
 * The records that a new one would join. Whoever makes it puts it among them.
 * @param shared where the siblings of other new ones are remembered
 * @param column of the kind's live table, which refers to the parent: `host_n`
 * @throws DomainError validation_failed where there are CHILDREN_MAX of them already
 */
export function siblingsWithRoom<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  column: string,
  parentId: string,
  shared?: SharedLookups,
): R[] {
  const look = () => tx.children(kind, column, parentId);
  const siblings = shared === undefined ? look() : shared.of(`${kind.plural} of ${parentId}`, look);
  if (siblings.length < CHILDREN_MAX) return siblings;
  throw invalid([
    {
      path: `/${column.replace(/_n$/, "_id")}`,
      message: `already has ${CHILDREN_MAX} ${entityWords(kind)}, the maximum`,
      value: parentId,
    },
  ]);
}

/**
 * What is wrong with the ids that an item in a list sends back: they must be the host's own.
 * @param pointer of the item: `/ports/3`
 */
export function mismatchedParentIds(item: OfHost, own: Required<OfHost>, pointer: string): Issue[] {
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

interface OfHost {
  readonly host_id?: string | undefined;
  readonly network_id?: string | undefined;
}

/** The position behind the last of those that are there. */
export function placeAfter(siblings: ReadonlyArray<{ readonly position: number }>): number {
  const last = siblings.reduce((highest, { position }) => Math.max(highest, position), -1);
  return Math.min(last + 1, INT32_MAX);
}

/** The options of a record that a client enters: the id that it brings, and as last seen when it was entered. */
export function entered(tx: WriteTransaction, item: { readonly id?: string }): { id?: string; observed: Observed } {
  return { ...(item.id === undefined ? {} : { id: item.id }), observed: { last_seen_at: formatInstant(tx.instant) } };
}
