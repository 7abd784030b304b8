// Registry of all resources and kinds of record. Everything that covers all of them derives from it.

import type { AnyKind } from "../db/kind.ts";
import { shapeOf } from "../db/shape.ts";
import { apiKeyResource } from "../resources/api-keys/resource.ts";
import { bindingResource } from "../resources/bindings/resource.ts";
import { componentResource } from "../resources/components/resource.ts";
import { conflictAcceptanceKind } from "../resources/conflict-acceptances/acceptance.ts";
import { hostConsolidationKind } from "../resources/consolidations/consolidation.ts";
import { credentialAssignmentKind } from "../resources/credential-assignments/credential-assignment.ts";
import { credentialResource } from "../resources/credentials/resource.ts";
import { customFieldResource } from "../resources/custom-fields/resource.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { hostResource } from "../resources/hosts/resource.ts";
import { ifEntryResource } from "../resources/if-entries/resource.ts";
import { ignoredResource } from "../resources/ignored/resource.ts";
import { ipAddressResource } from "../resources/ip-addresses/resource.ts";
import { ipRangeResource } from "../resources/ip-ranges/resource.ts";
import { markerResource } from "../resources/markers/resource.ts";
import { networkResource } from "../resources/networks/resource.ts";
import { organizationView } from "../resources/organizations/resource.ts";
import { portResource } from "../resources/ports/resource.ts";
import type { Part, Resource, ResourceBase } from "../resources/resource.ts";
import { scheduleResource } from "../resources/schedules/resource.ts";
import { serviceResource } from "../resources/services/resource.ts";
import { subnetResource } from "../resources/subnets/resource.ts";
import { tagResource } from "../resources/tags/resource.ts";
import { userResource } from "../resources/users/resource.ts";
import { vlanResource } from "../resources/vlans/resource.ts";

/** In the order of the documentation. */
export const RESOURCES: readonly Resource[] = [
  networkResource,
  subnetResource,
  ipRangeResource,
  vlanResource,
  hostResource,
  ipAddressResource,
  portResource,
  serviceResource,
  bindingResource,
  ifEntryResource,
  componentResource,
  scheduleResource,
  ignoredResource,
  credentialResource,
  tagResource,
  customFieldResource,
  markerResource,
  userResource,
  apiKeyResource,
];

/**
 * Kinds shown in the change log. Excludes API keys: they are visible in signed-in sessions only, each to its own
 * readers.
 */
export const CHANGE_LOG_RESOURCES: readonly ResourceBase[] = [
  organizationView,
  ...RESOURCES.filter((resource) => resource.read.sessionOnly !== true),
];

/** All kinds, shown in the change log or not. */
export const PARTS: readonly Part[] = [
  organizationView,
  ...RESOURCES,
  { kind: fdbEntryKind },
  { kind: credentialAssignmentKind },
  { kind: conflictAcceptanceKind },
  { kind: hostConsolidationKind },
];

/** All kinds of record in the order of their codes: references point upwards in this list. */
export const KINDS: readonly AnyKind[] = PARTS.map(({ kind }) => kind).sort((a, b) => a.code - b.code);

/**
 * Version of the response format: grows with every kind and every new field, as a record may include parts of other
 * kinds.
 */
export function responseShape(): number {
  return KINDS.reduce((shape, kind) => shape + shapeOf(kind), 0);
}

/** The resource of a kind. @throws Error for a kind without one */
export function resourceOf(kindName: string): Resource {
  const resource = RESOURCES.find((each) => each.kind.name === kindName);
  if (resource === undefined) throw new Error(`resources: no resource has the kind ${kindName}`);
  return resource;
}
