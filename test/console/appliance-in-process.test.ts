// Appliance status and log in the test process, refused to a Member.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "../support/page/page.ts";
import { serveVisited, type VisitedAppliance } from "../support/page/visited-appliance.ts";
import { Visitor } from "../support/page/visitor.ts";

const MEMBER = "member@acme.example";

const attention = (page: Page) =>
  page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name: "Needs attention" }) });

describe("the appliance", () => {
  let appliance: VisitedAppliance;
  let origin: string;
  let visitor: Visitor;

  beforeAll(async () => {
    appliance = await serveVisited();
    origin = appliance.running.url;
    await appliance.addUser(MEMBER, "Member", [appliance.networkId]);
    await appliance.client.post("hosts", { network_id: appliance.networkId, name: "core-1" });
    visitor = await Visitor.arrive(origin);
  });

  afterAll(async () => {
    await visitor.leave();
    await appliance.close();
  });

  test("shows a Member in a sentence who has access, and sends no request", async () => {
    const asked = visitor.requests();
    const page = await visitor.signedIn(MEMBER, "/");
    await attention(page).waitFor();
    for (const path of ["/settings/appliance", "/settings/log"]) {
      await page.goto(origin + path);
      await page.getByText("This concerns the whole appliance.").waitFor();
    }
    expect(asked.filter((url) => /\/api\/v1\/(appliance|log)\b/.test(url))).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    const answers = ["appliance", "log"].map((path) => page.request.get(`${origin}/api/v1/${path}`));
    expect((await Promise.all(answers)).map((answer) => answer.status())).toEqual([403, 403]);
  });
});
