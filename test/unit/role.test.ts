// Order of the roles.

import { expect, test } from "bun:test";
import { atLeast, lesserRole, ROLES, type Role } from "../../src/access/role.ts";

const FROM_LEAST: Role[] = ["Viewer", "Member", "Admin", "Owner"];

test("there are four roles, highest first", () => expect([...ROLES]).toEqual(["Owner", "Admin", "Member", "Viewer"]));

test("a role has the permissions of every lower role, and no more", () => {
  for (const [rank, role] of FROM_LEAST.entries())
    for (const [requiredRank, required] of FROM_LEAST.entries())
      expect(atLeast(role, required)).toBe(rank >= requiredRank);
});

test("the lower of two roles is independent of their order", () => {
  for (const [rank, role] of FROM_LEAST.entries())
    for (const [otherRank, other] of FROM_LEAST.entries()) {
      const lesser = FROM_LEAST[Math.min(rank, otherRank)];
      expect(lesserRole(role, other)).toBe(lesser as Role);
      expect(lesserRole(other, role)).toBe(lesser as Role);
    }
});
