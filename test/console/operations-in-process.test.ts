// Operations of an Owner in the test process: refused to other roles and in the past, by the console and by the API.

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

  test.each(OTHERS)("%s is offered no verification and no prune, and the API refuses both", async (email) => {
    const { visitor, page } = await appliance.arrived(email, "/ledger");
    await page.getByText("What verifications found is for Owners").waitFor();
    expect(await page.getByRole("button", { name: "Verify now" }).count()).toBe(0);
    await page.goto(`${appliance.url}/settings/retention?before=2026-01-01`);
    await page.getByText("This concerns the whole appliance.").waitFor();
    expect(await page.getByRole("button", { name: "Preview" }).count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    const answers = [
      await page.request.post(`${appliance.url}/api/v1/ledger/verifications`),
      await page.request.get(`${appliance.url}/api/v1/ledger/verifications`),
      await page.request.get(`${appliance.url}/api/v1/retention/preview?before=2026-01-01T00:00:00Z`),
    ];
    expect(answers.map((answer) => answer.status())).toEqual([403, 403, 403]);
  });

  test("offer no actions in the past", async () => {
    const { visitor, page } = await appliance.arrived(OWNER, "/settings/backups?at=2026-01-01T00:00:00.000Z");
    await page.getByText("To change something, go back to now.").waitFor();
    expect(await page.getByRole("button", { name: "Take a backup" }).count()).toBe(0);
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Take a backup" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });
});
