// Owner-only operations in the test process: rejected for other roles and in the past, by the console and by the API.

import { describe, expect, test } from "bun:test";
import { OWNER, serveForAll } from "../support/page/visit.ts";

const OTHERS = [
  ["admin@acme.example", "Admin"],
  ["member@acme.example", "Member"],
  ["viewer@acme.example", "Viewer"],
] as const;

describe("operations", () => {
  const appliance = serveForAll(async ({ addUser, networkId }) => {
    for (const [email, role] of OTHERS) await addUser(email, role, role === "Admin" ? [] : [networkId]);
  });

  test.each(OTHERS)("hide verification and pruning from %s, and the API refuses both", async (email) => {
    const { visitor, page } = await appliance.openAs(email, "/ledger");
    await page.getByText("Verification results are visible to signed-in Owners").waitFor();
    expect(await page.getByRole("button", { name: "Verify now" }).count()).toBe(0);
    await page.goto(`${appliance.url}/settings/retention?before=2026-01-01`);
    await page.getByText("For signed-in Owners only").waitFor();
    expect(await page.getByRole("button", { name: "Preview" }).count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
    const responses = [
      await page.request.post(`${appliance.url}/api/v1/ledger/verifications`),
      await page.request.get(`${appliance.url}/api/v1/ledger/verifications`),
      await page.request.get(`${appliance.url}/api/v1/retention/preview?before=2026-01-01T00:00:00Z`),
    ];
    expect(responses.map((response) => response.status())).toEqual([403, 403, 403]);
  });

  test("offer no actions in the past", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/settings/backups?at=2026-01-01T00:00:00.000Z");
    await page.getByText("To change them, go back to now.").waitFor();
    expect(await page.getByRole("button", { name: "Take a backup" }).count()).toBe(0);
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Take a backup" }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });
});
