// Host consolidation: the children of the other host move to the destination, and the other host is closed. `dryRun`
// computes the same plan and writes nothing.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import { canonicalOrder } from "../../base/custom-field-names.ts";
import { invalid } from "../../base/errors.ts";
import type { Conditional } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { assertPlanned } from "../../schemas/plan-token.ts";
import { TAGS_MAX } from "../../schemas/schemas.ts";
import { componentKind } from "../components/component.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { HOST_WRITE_FIELDS, type HostRecord, hostKind } from "../hosts/host.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { hostSigns } from "../ignored/signs.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { isSharedMac } from "../ip-addresses/shared-macs.ts";
import { serviceKind } from "../services/service.ts";
import { withoutService } from "../virtualization.ts";
import { assertMayMove, keepCoverage, moveAssignments } from "./assignments.ts";
import { moveChildren, moveIgnored, removeLinksBetween } from "./children.ts";
import { recordConsolidation } from "./consolidation.ts";
import { MoveDraft } from "./draft.ts";
import { type MoveResult, throwIfRefused } from "./plan.ts";

interface ConsolidateInput extends Conditional {
  /** Id of the destination. */
  readonly id: string;
  readonly otherId: string;
  readonly dryRun: boolean;
  /** Token of a plan read earlier; the command fails if the plan has changed. */
  readonly plan?: string | undefined;
}

/**
 * Moves everything from one host to another of its network, then closes it. For duplicates, the destination's record
 * stays; empty fields of the destination are filled.
 * @throws DomainError entity_not_found; precondition_failed against the destination; entity_stale if the quoted plan no
 * longer holds; validation_failed for one host, for two networks, and for exceeded limits of a host;
 * auth_permission_denied, entity_access_denied if credentials are assigned
 */
export function consolidateHosts(tx: WriteTransaction, input: ConsolidateInput, actor: CommandActor): MoveResult {
  const { id, otherId, dryRun } = input;
  const destination = getReachable(tx, hostKind, id, actor);
  const other = getReachable(tx, hostKind, otherId, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertConsolidatable(destination, other);
  const assignments = [id, otherId].flatMap((each) => tx.children(credentialAssignmentKind, "host_n", each));
  assertMayMove(tx, assignments, actor, "Consolidating hosts that have credentials assigned");

  const draft = new MoveDraft(tx);
  moveChildren(draft, destination, other);
  moveAssignments(draft, destination, other);
  draft.close(hostKind, other, destination, "its parts move to the destination");
  moveIgnored(draft, destination, other);
  draft.set(hostKind, destination, mergedFields(destination, other), "Changed");
  draft.redirectReferences();
  removeLinksBetween(draft, destination, other);
  detachFromOwnService(draft, destination);
  const merged = draft.find(hostKind, id) as HostRecord;
  if (merged.tags.length > TAGS_MAX)
    draft.refuse(hostKind, destination, `would have ${merged.tags.length} tags, more than ${TAGS_MAX}`);

  const token = draft.token([id, otherId], null);
  assertPlanned(input.plan, token);
  if (dryRun) return { hostId: id, token, actions: draft.actions(), refused: draft.refused };
  throwIfRefused(draft.refused, "/other_id");
  const [formerSigns, ownSigns] = [signsOf(tx, other), signsOf(tx, destination)];
  keepCoverage(draft, other);
  draft.write();
  const [seen, seenOther] = [tx.observedOf(id).last_seen_at ?? null, tx.observedOf(otherId).last_seen_at ?? null];
  if ((seenOther ?? "") > (seen ?? "")) tx.observe(hostKind, id, { last_seen_at: seenOther });
  const scope = { organizationId: actor.organizationId, networkId: other.network_id };
  recordConsolidation(tx, scope, { id: otherId, signs: formerSigns }, { id, signs: ownSigns });
  return { hostId: id, token, actions: draft.actions(), refused: [] };
}

function assertConsolidatable(destination: HostRecord, other: HostRecord): void {
  if (other.id === destination.id)
    throw invalid({
      path: "/other_id",
      message: "is the destination itself; specify two different hosts",
      value: other.id,
    });
  if (other.network_id !== destination.network_id)
    throw invalid({
      path: "/other_id",
      message: "is not in the destination's network; only hosts of the same network can be consolidated",
      value: other.id,
    });
}

/** Fields, including device-reported ones, copied to the destination if it has no value. */
const FILLED_FIELDS = [...HOST_WRITE_FIELDS, "chassis_id", "bridge_address", "engine_id"] as const;

/** Fields of the destination that change. */
function mergedFields(destination: HostRecord, other: HostRecord): Partial<HostRecord> {
  const missing = FILLED_FIELDS.filter(
    (field) => (destination[field] ?? null) === null && (other[field] ?? null) !== null,
  );
  const isStale = destination.stale_since !== undefined && other.stale_since !== undefined;
  return {
    ...Object.fromEntries(missing.map((field) => [field, other[field]])),
    tags: [...new Set([...destination.tags, ...other.tags])],
    custom_fields: canonicalOrder({ ...other.custom_fields, ...destination.custom_fields }),
    // Seeing one of the hosts recently is enough: stale only if both are.
    ...(isStale ? {} : { stale_since: undefined }),
  };
}

/** A host must not run on its own service. */
function detachFromOwnService(draft: MoveDraft, destination: HostRecord): void {
  const host = draft.find(hostKind, destination.id) as HostRecord;
  const id = host.virtualization?.details.service_id;
  if (id !== undefined && draft.find(serviceKind, id)?.host_id === destination.id)
    draft.set(hostKind, destination, withoutService(host), "Changed", "a host does not run on its own service");
}

/** Signs by which a scan identifies the host, as of before this transaction. */
function signsOf(tx: WriteTransaction, host: HostRecord): string[] {
  const networkN = tx.recordN(host.network_id) ?? 0;
  const addresses = tx.children(ipAddressKind, "host_n", host.id).map(({ ip_address, mac_address: mac }) => {
    return { ip_address, mac_address: mac === null || isSharedMac(tx, networkN, mac) ? null : mac };
  });
  const components = tx.children(componentKind, "host_n", host.id);
  return hostSigns(host, tx.children(ifEntryKind, "host_n", host.id), addresses, components);
}
