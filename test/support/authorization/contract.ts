// Who may do what, operation by operation, by its rules (handbook: security, "Roles") and not in those of the code; and
// from that the code that each caller is to be answered with. An operation that is not in it has no rights at all: the
// tests fail.

import type { Role } from "../../../src/access/role.ts";
import type { Caller } from "./world.ts";

export interface Right {
  /** The least role; "anyone" takes no credentials. */
  readonly role: Role | "anyone";
  /** "Key management is by session only." */
  readonly sessionOnly?: true;
  /** "Only while one organization exists." */
  readonly ofWholeAppliance?: true;
  /**
   * What a key that is kept to some networks is refused with: it could give itself the others, or would not reach what
   * it made.
   */
  readonly takesEveryNetwork?: "auth_permission_denied" | "entity_access_denied";
  /** Takes no credentials, and is refused to another site's page all the same: it opens a session. */
  readonly mindsOrigin?: true;
}

/** The standard set: by the path below /api/v1, who reads and who writes. */
export const STANDARD: Readonly<
  Record<
    string,
    {
      readonly entity: string;
      readonly read: Right;
      readonly write: Right;
      readonly manage?: Right;
      readonly place: "network" | "organization" | "user";
      readonly comesByItself?: true;
    }
  >
> = {
  // "Member writes inventory (hosts, children, interface entries, subnets, VLANs, tag assignment)."
  hosts: { entity: "host", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  "ip-addresses": { entity: "ip_address", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  ports: { entity: "port", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  services: { entity: "service", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  bindings: { entity: "binding", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  "if-entries": { entity: "if_entry", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  subnets: { entity: "subnet", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  "ip-ranges": { entity: "ip_range", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  vlans: { entity: "vlan", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  // "Admin also writes networks, tags, credentials …, users and keys up to their own role."
  networks: { entity: "network", read: { role: "Viewer" }, write: { role: "Admin" }, place: "network" },
  // When a network is scanned, and where: "Admin also writes … explicit scan targets". What discovery is not to bring
  // back is inventory; it is made by deletions alone.
  "discovery/schedules": { entity: "schedule", read: { role: "Viewer" }, write: { role: "Admin" }, place: "network" },
  "discovery/ignored": {
    entity: "ignored",
    read: { role: "Viewer" },
    write: { role: "Member" },
    place: "network",
    comesByItself: true,
  },
  // "Of the organization or a network, Members write."
  markers: { entity: "marker", read: { role: "Viewer" }, write: { role: "Member" }, place: "network" },
  tags: { entity: "tag", read: { role: "Viewer" }, write: { role: "Admin" }, place: "organization" },
  // What is demanded of records, or given to them, is so in every network.
  "custom-fields": {
    entity: "custom_field",
    read: { role: "Viewer" },
    write: { role: "Admin", takesEveryNetwork: "entity_access_denied" },
    place: "organization",
  },
  credentials: { entity: "credential", read: { role: "Viewer" }, write: { role: "Admin" }, place: "organization" },
  // A user is a right to networks: whoever manages users has to reach them all, or a key could outgrow itself.
  users: {
    entity: "user",
    read: { role: "Viewer" },
    write: { role: "Admin", takesEveryNetwork: "entity_access_denied" },
    place: "organization",
  },
  // A Member "has own keys"; a Viewer sees those that were made for him.
  "auth/keys": {
    entity: "api_key",
    read: { role: "Viewer", sessionOnly: true },
    write: { role: "Member", sessionOnly: true },
    place: "user",
  },
};

/** Kinds of which people change many records at once: "not credentials, keys, users". */
const BULK_EDITED = new Set(
  "networks subnets ip-ranges vlans hosts ip-addresses ports services if-entries tags".split(" "),
);

/** Kinds of which a table comes in besides. */
const TABLED = new Set(["bindings", "discovery/schedules", "markers", "custom-fields"]);

function standardRights(): Record<string, Right> {
  const rights: Record<string, Right> = {};
  for (const [plural, { read, write, comesByItself }] of Object.entries(STANDARD)) {
    const path = `/api/v1/${plural}`;
    for (const each of [path, `${path}/export/csv`, `${path}/:id`, `${path}/:id/history`]) rights[`GET ${each}`] = read;
    for (const each of [
      `DELETE ${path}/:id`,
      `POST ${path}/bulk-delete`,
      ...(comesByItself === true ? [] : [`POST ${path}`, `PUT ${path}/:id`]),
      ...(BULK_EDITED.has(plural) ? [`POST ${path}/bulk-update`] : []),
    ])
      rights[each] = write;
    // A plan that would write nothing is anybody's who may write what it is of.
    const planned: Right = { role: write.role, ...(write.sessionOnly === true ? { sessionOnly: true } : {}) };
    rights[`POST ${path}/:id/restore`] = planned;
    if (BULK_EDITED.has(plural) || TABLED.has(plural)) rights[`POST ${path}/import/csv`] = planned;
  }
  return rights;
}

const VIEWER: Right = { role: "Viewer" };
const MEMBER: Right = { role: "Member" };
const ADMIN: Right = { role: "Admin" };
const OWNER: Right = { role: "Owner" };
/** "Session-only, Owners, and only while one organization exists": there are two in the world that is asked. */
const OF_WHOLE_APPLIANCE: Right = { role: "Owner", sessionOnly: true, ofWholeAppliance: true };

/** By method and path, as they are registered. */
export const RIGHTS: Readonly<Record<string, Right>> = {
  ...standardRights(),
  "POST /api/v1/networks": { role: "Admin", takesEveryNetwork: "auth_permission_denied" },
  "GET /api/health": { role: "anyone" },
  "GET /api/version": { role: "anyone" },
  "GET /api/auth/setup": { role: "anyone" },
  "POST /api/auth/setup": { role: "anyone", mindsOrigin: true },
  "POST /api/auth/login": { role: "anyone", mindsOrigin: true },
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
  // "What is shared is changed only by who reaches everything that it touches."
  "PUT /api/v1/organizations": { role: "Owner", takesEveryNetwork: "entity_access_denied" },
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
  "GET /api/v1/subnets/:id/free": VIEWER,
  // "Member writes inventory": what an allocation makes, a Member could enter.
  "POST /api/v1/subnets/:id/allocate": MEMBER,
  "PUT /api/v1/tags/assign": MEMBER,
  "POST /api/v1/tags/assign/bulk-add": MEMBER,
  "POST /api/v1/tags/assign/bulk-remove": MEMBER,
  "GET /api/v1/discovery/self": MEMBER,
  "POST /api/v1/discovery/self": MEMBER,
  // "Runs discovery on the network's subnets"; targets outside of them take an Admin.
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
  // What waits, and why, is no secret: the assignments are shown beside every host and network.
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
  "GET /api/v1/vendors/:mac": VIEWER,
  // "A Member may revert a transaction of their own if they could make every write in it"; others take an Admin.
  "POST /api/v1/transactions/:sequence/revert": MEMBER,
  // A backup is of all organizations; it stays on the appliance.
  "GET /api/v1/retention/preview": OF_WHOLE_APPLIANCE,
  "GET /api/v1/log": OF_WHOLE_APPLIANCE,
  "GET /api/v1/appliance": OF_WHOLE_APPLIANCE,
  "GET /api/v1/licences": VIEWER,
  "GET /api/v1/bill-of-materials": VIEWER,
  "GET /api/v1/ledger/verifications": OF_WHOLE_APPLIANCE,
  "POST /api/v1/ledger/verifications": OF_WHOLE_APPLIANCE,
  "GET /api/v1/ledger/verifications/:id": OF_WHOLE_APPLIANCE,
  "POST /api/v1/ledger/verifications/:id/cancel": OF_WHOLE_APPLIANCE,
  "GET /api/v1/backups": OWNER,
  "POST /api/v1/backups": OWNER,
  "GET /api/v1/backups/:name": OWNER,
  "POST /api/v1/backups/:name/download": OF_WHOLE_APPLIANCE,
  "POST /api/v1/backups/:name/verify": OF_WHOLE_APPLIANCE,
  "DELETE /api/v1/backups/:name": OF_WHOLE_APPLIANCE,
};

/** Section 2: the status of each code. */
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

const POWER: readonly Role[] = ["Viewer", "Member", "Admin", "Owner"];

export function mayAs(role: Role, least: Role): boolean {
  return POWER.indexOf(role) >= POWER.indexOf(least);
}

/** What a request asks for beyond its operation, and what comes of it for who may. */
export interface Demand {
  /** Null where it is done. */
  readonly code: string | null;
  readonly role?: Role;
  readonly sessionOnly?: true;
}

/**
 * The code that an operation turns a caller away with before it looks at what is asked; null for who is let in. First
 * who it is, then what it may.
 */
export function gateCode(caller: Caller, method: string, right: Right): string | null {
  const isOrigin = caller.isForeignPage && method !== "GET";
  if (right.role === "anyone") return right.mindsOrigin === true && isOrigin ? "auth_origin_rejected" : null;
  if (caller.refusal !== null) return caller.refusal;
  if (right.sessionOnly === true && caller.isKey) return "auth_session_required";
  if (!mayAs(caller.role, right.role) || right.ofWholeAppliance === true) return "auth_permission_denied";
  return isOrigin ? "auth_origin_rejected" : null;
}

/** The code that a caller is to be answered with; null for success. */
export function expectedCode(caller: Caller, method: string, right: Right, demand: Demand): string | null {
  const gate = gateCode(caller, method, right);
  if (gate !== null || right.role === "anyone") return gate ?? demand.code;
  if (demand.sessionOnly === true && caller.isKey) return "auth_session_required";
  // What is out of reach is as if it were not there, for such a key as well.
  if (
    right.takesEveryNetwork !== undefined &&
    caller.networkIds !== null &&
    demand.code !== "entity_not_found" &&
    demand.code !== "entity_reference_invalid"
  )
    return right.takesEveryNetwork;
  if (demand.role !== undefined && !mayAs(caller.role, demand.role)) return "auth_permission_denied";
  return demand.code;
}
