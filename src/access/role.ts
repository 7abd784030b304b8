// The four roles and their order. What each may do is said where it is done.

/** From the most to the least powerful; each may do all that the ones after it may. */
export const ROLES = ["Owner", "Admin", "Member", "Viewer"] as const;

export type Role = (typeof ROLES)[number];

/** Whether `role` may do what asks for `required`. */
export function atLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(required);
}

/** Whether a user of this role reaches every network of the organization, whatever the user's list says. */
export function reachesEveryNetwork(role: Role): boolean {
  return atLeast(role, "Admin");
}

/** The less powerful of two: a key's role within its user's. */
export function lesserRole(a: Role, b: Role): Role {
  return atLeast(a, b) ? b : a;
}
