// The roles, and which of them somebody can give. Plain functions.

/** From the most to the least powerful. */
export const ROLES = ["Owner", "Admin", "Member", "Viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Those that somebody of this role can give. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(role));
}

/** Whether somebody of this role reaches every network, whatever is chosen for them. */
export function reachesAll(role: Role): boolean {
  return role === "Owner" || role === "Admin";
}
