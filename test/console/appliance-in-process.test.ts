// Appliance status and log in the test process, and access denied to a Member.

import { describe, expect, test } from "bun:test";
import type { Page } from "../support/page/page.ts";
import { serveForAll } from "../support/page/visit.ts";
import { Visitor } from "../support/page/visitor.ts";

const MEMBER = "member@acme.example";

const attention = (page: Page) =>
  page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name: "Needs attention" }) });

describe("the appliance", () => {
  const appliance = serveForAll(async ({ addUser, client, networkId }) => {
    await addUser(MEMBER, "Member", [networkId]);
    await client.post("hosts", { network_id: networkId, name: "core-1" });
  });

  test("shows a Member who has access, in one sentence, and sends no request", async () => {
    const visitor = await Visitor.create(appliance.url);
    const requestedUrls = visitor.requests();
    const page = await visitor.signedIn(MEMBER, "/");
    await attention(page).waitFor();
    for (const path of ["/settings/appliance", "/settings/log"]) {
      await page.goto(appliance.url + path);
      await page.getByText("For signed-in Owners only").waitFor();
    }
    expect(requestedUrls.filter((url) => /\/api\/v1\/(appliance|log)\b/.test(url))).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    const responses = ["appliance", "log"].map((path) => page.request.get(`${appliance.url}/api/v1/${path}`));
    expect((await Promise.all(responses)).map((response) => response.status())).toEqual([403, 403]);
    await visitor.close();
  });
});
