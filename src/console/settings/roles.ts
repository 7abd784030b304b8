// Roles, and which of them a user can grant.

import { LIMITS } from "#limits";
import { me } from "../session/me.ts";

/** From most to least privileged. */
const ROLES = LIMITS.createUser.role.choices;

export type Role = (typeof ROLES)[number];

/** Roles that a user of this role can grant. */
function grantableRoles(role: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(role));
}

/** Whether the signed-in user can grant the role. */
export function mayGrant(role: Role | undefined): boolean {
  const ownRole = me.value?.effective_role;
  return ownRole !== undefined && role !== undefined && grantableRoles(ownRole).includes(role);
}

const ROLE_LABELS = {
  Owner: "Owner: everything, including other Owners and the organization",
  Admin: "Admin: also networks, tags, credentials and users",
  Member: "Member: edits the inventory and scans",
  Viewer: "Viewer: read-only",
};

/** Roles that the signed-in user can grant. */
export function roleOptions() {
  const ownRole = me.value?.effective_role;
  return ownRole === undefined ? [] : grantableRoles(ownRole).map((role) => [role, ROLE_LABELS[role]] as const);
}

/** Whether the role has access to every network, regardless of assignments. */
export function reachesAll(role: Role): boolean {
  return role === "Owner" || role === "Admin";
}
