// Roles, and which of them a user can grant.

import { LIMITS } from "#limits";
import { me } from "../session/me.ts";

/** From most to least privileged. */
const ROLES = LIMITS.createUser.role.choices;

export type Role = (typeof ROLES)[number];

/** Roles that a user of this role can grant. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(role));
}

const RIGHTS_ROLES = {
  Owner: "Owner: everything, other Owners and the organization too",
  Admin: "Admin: also networks, tags, credentials, people",
  Member: "Member: writes the inventory, scans",
  Viewer: "Viewer: reads",
};

/** Roles that the signed-in user can grant. */
export function roleOptions() {
  const own = me.value?.effective_role;
  return own === undefined ? [] : rolesUpTo(own).map((role) => [role, RIGHTS_ROLES[role]] as const);
}

/** Whether the role has access to every network, regardless of assignments. */
export function reachesAll(role: Role): boolean {
  return role === "Owner" || role === "Admin";
}
