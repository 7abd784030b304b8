// Roles and their order. Each operation defines the role that it requires.

/** From most to least powerful; each includes the permissions of the following ones. */
export const ROLES = ["Owner", "Admin", "Member", "Viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Whether `role` includes `required`. */
export function atLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(required);
}

/** Whether the role grants access to every network of the organization, regardless of the user's list. */
export function reachesEveryNetwork(role: Role): boolean {
  return atLeast(role, "Admin");
}

/** The less powerful of two: a key's role within its user's. */
export function lesserRole(a: Role, b: Role): Role {
  return atLeast(a, b) ? b : a;
}
