// Roles, and which of them a user can grant.

import { LIMITS } from "#limits";
import { me } from "../session/me.ts";
import { rightsText } from "../text/rights.ts";

/** From most to least privileged. */
const ROLES = LIMITS.createUser.role.choices;

export type Role = (typeof ROLES)[number];

/** Roles that a user of this role can grant. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(role));
}

/** Roles that the signed-in user can grant. */
export function roleOptions() {
  const own = me.value?.effective_role;
  return own === undefined ? [] : rolesUpTo(own).map((role) => [role, rightsText.roles[role]] as const);
}

/** Whether the role has access to every network, regardless of assignments. */
export function reachesAll(role: Role): boolean {
  return role === "Owner" || role === "Admin";
}
