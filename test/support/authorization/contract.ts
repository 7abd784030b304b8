// Permissions that every operation requires by the documented rules (handbook: security, "Roles"), independent of the
// code, and the expected error code per caller. The tests fail for an operation that is missing here.

import type { Role } from "../../../src/access/role.ts";
import type { Caller } from "./fixture.ts";

export interface Right {
  /** Minimum role; "anyone" needs no credentials. */
  readonly role: Role | "anyone";
  /** "Key management is by session only." */
  readonly sessionOnly?: true;
  /** "Only while one organization exists." */
  readonly isApplianceWide?: true;
  /**
   * Refusal for keys limited to some networks: such a key could grant itself the others, or could not access the new
   * record.
   */
  readonly requiresAllNetworks?: "auth_permission_denied" | "entity_access_denied";
  /** Needs no credentials, yet refuses cross-site requests: it opens a session. */
  readonly checksOrigin?: true;
}

const VIEWER: Right = { role: "Viewer" };
const MEMBER: Right = { role: "Member" };
const ADMIN: Right = { role: "Admin" };
const OWNER: Right = { role: "Owner" };
const ADMIN_EVERYWHERE: Right = { role: "Admin", requiresAllNetworks: "entity_access_denied" };

/** Permissions to read and write the records of each kind, by the path below /api/v1. */
export const STANDARD: Readonly<
  Record<
    string,
    {
      readonly entity: string;
      readonly read: Right;
      readonly write: Right;
      readonly manage?: Right;
      readonly scope: "network" | "organization" | "user";
      readonly hasNoUpdate?: true;
      readonly isReadOnly?: true;
    }
  >
> = {
  // "Member writes inventory (hosts, children, interface entries, subnets, VLANs, tag assignment)."
  hosts: { entity: "host", read: VIEWER, write: MEMBER, scope: "network" },
  "ip-addresses": { entity: "ip_address", read: VIEWER, write: MEMBER, scope: "network" },
  ports: { entity: "port", read: VIEWER, write: MEMBER, scope: "network" },
  services: { entity: "service", read: VIEWER, write: MEMBER, scope: "network" },
  bindings: { entity: "binding", read: VIEWER, write: MEMBER, scope: "network" },
  // "Written by scans only."
  components: { entity: "component", read: VIEWER, write: MEMBER, scope: "network", isReadOnly: true },
  "if-entries": { entity: "if_entry", read: VIEWER, write: MEMBER, scope: "network" },
  subnets: { entity: "subnet", read: VIEWER, write: MEMBER, scope: "network" },
  "ip-ranges": { entity: "ip_range", read: VIEWER, write: MEMBER, scope: "network" },
  vlans: { entity: "vlan", read: VIEWER, write: MEMBER, scope: "network" },
  // "Admin also writes networks, tags, credentials …, users and keys up to their own role."
  networks: { entity: "network", read: VIEWER, write: ADMIN, scope: "network" },
  // Schedules of scans: "Admin also writes … explicit scan targets". Records ignored by discovery are inventory, and are
  // not updated.
  "discovery/schedules": { entity: "schedule", read: VIEWER, write: ADMIN, scope: "network" },
  "discovery/ignored": { entity: "ignored", read: VIEWER, write: MEMBER, scope: "network", hasNoUpdate: true },
  // "Of the organization or a network, Members write."
  markers: { entity: "marker", read: VIEWER, write: MEMBER, scope: "network" },
  tags: { entity: "tag", read: VIEWER, write: ADMIN, scope: "organization" },
  // Custom fields apply in every network.
  "custom-fields": { entity: "custom_field", read: VIEWER, write: ADMIN_EVERYWHERE, scope: "organization" },
  credentials: { entity: "credential", read: VIEWER, write: ADMIN, scope: "organization" },
  // Users are granted access to networks: managing them requires access to all networks, or a key could exceed its
  // permissions.
  users: { entity: "user", read: VIEWER, write: ADMIN_EVERYWHERE, scope: "organization" },
  // A Member "has own keys"; a Viewer sees the keys created for them.
  "auth/keys": {
    entity: "api_key",
    read: { role: "Viewer", sessionOnly: true },
    write: { role: "Member", sessionOnly: true },
    scope: "user",
  },
};

/** Kinds with bulk edit: "not credentials, keys, users". */
const BULK_EDITED = new Set(
  "networks subnets ip-ranges vlans hosts ip-addresses ports services if-entries tags".split(" "),
);

/** Additional kinds with table import. */
const TABLE_IMPORTED = new Set(["bindings", "discovery/schedules", "markers", "custom-fields"]);

function standardRights(): Record<string, Right> {
  const rights: Record<string, Right> = {};
  for (const [plural, { read, write, hasNoUpdate, isReadOnly }] of Object.entries(STANDARD)) {
    const path = `/api/v1/${plural}`;
    for (const suffix of ["", "/export/csv", "/:id", "/:id/history"]) rights[`GET ${path}${suffix}`] = read;
    if (isReadOnly === true) continue;
    for (const endpoint of [
      `DELETE ${path}/:id`,
      `POST ${path}/bulk-delete`,
      `POST ${path}`,
      ...(hasNoUpdate === true ? [] : [`PUT ${path}/:id`]),
      ...(BULK_EDITED.has(plural) ? [`POST ${path}/bulk-update`] : []),
    ])
      rights[endpoint] = write;
    // A plan without writes needs only the permission to write the record it concerns.
    const planned: Right = { role: write.role, ...(write.sessionOnly === true ? { sessionOnly: true } : {}) };
    rights[`POST ${path}/:id/restore`] = planned;
    if (BULK_EDITED.has(plural) || TABLE_IMPORTED.has(plural)) rights[`POST ${path}/import/csv`] = planned;
  }
  return rights;
}

/** "Session-only, Owners, and only while one organization exists": the test fixture has two. */
const APPLIANCE_WIDE: Right = { role: "Owner", sessionOnly: true, isApplianceWide: true };

/** Permissions by registered method and path. */
export const RIGHTS: Readonly<Record<string, Right>> = {
  ...standardRights(),
  "POST /api/v1/networks": { role: "Admin", requiresAllNetworks: "auth_permission_denied" },
  "GET /api/health": { role: "anyone" },
  "GET /api/version": { role: "anyone" },
  "GET /api/auth/setup": { role: "anyone" },
  "POST /api/auth/setup": { role: "anyone", checksOrigin: true },
  "POST /api/auth/login": { role: "anyone", checksOrigin: true },
  "POST /api/auth/logout": { role: "Viewer", sessionOnly: true },
  "GET /api/auth/me": VIEWER,
  "GET /api/auth/sessions": { role: "Viewer", sessionOnly: true },
  "DELETE /api/auth/sessions/:id": { role: "Viewer", sessionOnly: true },
  "POST /api/auth/sessions/end-others": { role: "Viewer", sessionOnly: true },
  "GET /api/auth/preferences": { role: "Viewer", sessionOnly: true },
  "PUT /api/auth/preferences": { role: "Viewer", sessionOnly: true },
  "PUT /api/auth/password": { role: "Viewer", sessionOnly: true },
  "POST /api/v1/auth/keys/:id/rotate": { role: "Member", sessionOnly: true },
  "GET /api/v1/organizations": VIEWER,
  // Shared records are changed only by callers with access to everything affected.
  "PUT /api/v1/organizations": { role: "Owner", requiresAllNetworks: "entity_access_denied" },
  "POST /api/v1/hosts/bulk": MEMBER,
  "PUT /api/v1/hosts/:id/consolidate/:other_id": MEMBER,
  "POST /api/v1/hosts/:id/split": MEMBER,
  "GET /api/v1/networks/:id/map-positions": VIEWER,
  "PUT /api/v1/networks/:id/map-positions": MEMBER,
  // "A secret goes only where an Admin has sent it."
  "POST /api/v1/ip-addresses/:id/confirm": ADMIN,
  "GET /api/v1/subnets/tree": VIEWER,
  "GET /api/v1/subnets/:id/addresses": VIEWER,
  "GET /api/v1/subnets/:id/blocks": VIEWER,
  "GET /api/v1/networks/:id/expiring": VIEWER,
  "GET /api/v1/subnets/:id/free": VIEWER,
  // "Member writes inventory": a Member could also enter the allocated records by hand.
  "POST /api/v1/subnets/:id/allocate": MEMBER,
  "PUT /api/v1/tags/assign": MEMBER,
  "POST /api/v1/tags/assign/bulk-add": MEMBER,
  "POST /api/v1/tags/assign/bulk-remove": MEMBER,
  "GET /api/v1/discovery/self": MEMBER,
  "POST /api/v1/discovery/self": MEMBER,
  // "Runs discovery on the network's subnets"; other targets require an Admin.
  "GET /api/v1/discovery/scans": VIEWER,
  "POST /api/v1/discovery/scans": MEMBER,
  "POST /api/v1/ip-addresses/:id/check": MEMBER,
  "POST /api/v1/credentials/:id/try": ADMIN,
  "GET /api/v1/credentials/:id/reach": VIEWER,
  "GET /api/v1/discovery/scans/:id": VIEWER,
  "POST /api/v1/discovery/scans/:id/cancel": MEMBER,
  "GET /api/v1/discovery/scans/:id/findings": VIEWER,
  "GET /api/v1/discovery/scans/:id/events": VIEWER,
  "GET /api/v1/discovery/schedules/due": VIEWER,
  // Withheld credentials and the reasons are not secret: every host and network shows its assignments.
  "GET /api/v1/discovery/withheld": VIEWER,
  "GET /api/v1/discovery/withheld/export/csv": VIEWER,
  "GET /api/v1/activity": VIEWER,
  "GET /api/v1/changes": VIEWER,
  "GET /api/v1/conflicts": VIEWER,
  "GET /api/v1/conflicts/export/csv": VIEWER,
  "GET /api/v1/stations": VIEWER,
  "GET /api/v1/stations/export/csv": VIEWER,
  "POST /api/v1/conflicts/acceptances": MEMBER,
  "DELETE /api/v1/conflicts/acceptances/:id": MEMBER,
  "GET /api/v1/summary": VIEWER,
  "GET /api/v1/diff": VIEWER,
  "GET /api/v1/transactions": VIEWER,
  "GET /api/v1/transactions/:sequence": VIEWER,
  "GET /api/v1/fields/:kind": VIEWER,
  "GET /api/v1/ledger": VIEWER,
  "GET /api/v1/locate": VIEWER,
  "GET /api/v1/search": VIEWER,
  "GET /api/v1/locate/timeline": VIEWER,
  "GET /api/v1/topology": VIEWER,
  "GET /api/v1/hosts/:id/faceplate": VIEWER,
  "GET /api/v1/hosts/:id/identity": VIEWER,
  "GET /api/v1/vendors/:mac": VIEWER,
  // "A Member may revert a transaction of their own if they could make every write in it"; others require an Admin.
  "POST /api/v1/transactions/:sequence/revert": MEMBER,
  // A backup contains all organizations; it stays on the appliance.
  "GET /api/v1/retention/preview": APPLIANCE_WIDE,
  "GET /api/v1/log": APPLIANCE_WIDE,
  "GET /api/v1/appliance": APPLIANCE_WIDE,
  "GET /api/v1/licences": VIEWER,
  "GET /api/v1/bill-of-materials": VIEWER,
  "GET /api/v1/ledger/verifications": APPLIANCE_WIDE,
  "POST /api/v1/ledger/verifications": APPLIANCE_WIDE,
  "GET /api/v1/ledger/verifications/:id": APPLIANCE_WIDE,
  "POST /api/v1/ledger/verifications/:id/cancel": APPLIANCE_WIDE,
  "GET /api/v1/backups": OWNER,
  "POST /api/v1/backups": OWNER,
  "GET /api/v1/backups/:name": OWNER,
  "POST /api/v1/backups/:name/download": APPLIANCE_WIDE,
  "POST /api/v1/backups/:name/verify": APPLIANCE_WIDE,
  "DELETE /api/v1/backups/:name": APPLIANCE_WIDE,
};

/** HTTP status by error code. */
export const STATUSES: Readonly<Record<string, number>> = {
  validation_failed: 400,
  entity_reference_invalid: 400,
  auth_not_authenticated: 401,
  auth_session_expired: 401,
  auth_key_disabled: 401,
  auth_key_expired: 401,
  auth_permission_denied: 403,
  entity_access_denied: 403,
  auth_session_required: 403,
  auth_origin_rejected: 403,
  entity_not_found: 404,
  entity_already_exists: 409,
  entity_in_use: 409,
  entity_stale: 409,
};

const ROLES_ASCENDING: readonly Role[] = ["Viewer", "Member", "Admin", "Owner"];

export function hasRole(role: Role, minimum: Role): boolean {
  return ROLES_ASCENDING.indexOf(role) >= ROLES_ASCENDING.indexOf(minimum);
}

/** Requirements of a request beyond those of its operation, and the outcome for callers with the role. */
export interface Requirement {
  /** Null for success. */
  readonly code: string | null;
  readonly role?: Role;
  readonly sessionOnly?: true;
}

/**
 * Code of the refusal before an operation reads the request; null if the caller is admitted. Authentication first, then
 * authorization.
 */
export function gateCode(caller: Caller, method: string, right: Right): string | null {
  const isCrossSite = caller.isForeignPage && method !== "GET";
  if (right.role === "anyone") return right.checksOrigin === true && isCrossSite ? "auth_origin_rejected" : null;
  if (caller.refusal !== null) return caller.refusal;
  if (right.sessionOnly === true && caller.isKey) return "auth_session_required";
  if (!hasRole(caller.role, right.role) || right.isApplianceWide === true) return "auth_permission_denied";
  return isCrossSite ? "auth_origin_rejected" : null;
}

/** Expected code for a caller; null for success. */
export function expectedCode(caller: Caller, method: string, right: Right, requirement: Requirement): string | null {
  const gate = gateCode(caller, method, right);
  if (gate !== null || right.role === "anyone") return gate ?? requirement.code;
  if (requirement.sessionOnly === true && caller.isKey) return "auth_session_required";
  // Records out of reach are reported as missing, even to a key limited to some networks.
  if (
    right.requiresAllNetworks !== undefined &&
    caller.networkIds !== null &&
    requirement.code !== "entity_not_found" &&
    requirement.code !== "entity_reference_invalid"
  )
    return right.requiresAllNetworks;
  if (requirement.role !== undefined && !hasRole(caller.role, requirement.role)) return "auth_permission_denied";
  return requirement.code;
}
