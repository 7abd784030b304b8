// Roles, and which of them a user can grant. Pure.

/** From most to least privileged. */
export const ROLES = ["Owner", "Admin", "Member", "Viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Roles that a user of this role can grant. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(role));
}

/** Whether the role has access to every network, regardless of assignments. */
export function reachesAll(role: Role): boolean {
  return role === "Owner" || role === "Admin";
}
