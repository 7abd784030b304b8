// Prune preview through the API, which equals the prune's effect and changes nothing.

import { describe, expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import { pruneHistory } from "../../src/history/prune.ts";
import { KINDS } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";

const DAY_MS = 24 * 3_600_000;
const PATH = "retention/preview";

const appliance = applianceForEach();
const { clock, newApiKey, newTag, newUser, owner, transactionCount } = appliance;

/** Forty days, with three color changes to a tag on each. */
async function writeHistory(): Promise<void> {
  const tag = await newTag();
  for (let day = 0; day < 40; day += 1) {
    for (const color of ["Red", "Green", "Blue"]) {
      clock.advance(1_000);
      const { status } = await owner.put(`tags/${tag.id}`, { ...tag, color, description: `day ${day}` });
      expect(status).toBe(200);
    }
    clock.advance(DAY_MS);
  }
}

describe("the preview of a prune", () => {
  test.each(["daily", "monthly", "none"] as const)(
    "reports the effect of keeping %s, and changes nothing",
    async (keep) => {
      await writeHistory();
      const head = transactionCount();
      const { data } = await owner.get(`${PATH}?before=-10d&keep=${keep}`);
      expect(transactionCount()).toBe(head);
      const db = openWritable(appliance.databasePath);
      const pruned = pruneHistory(db, KINDS, { before: Date.parse(data.before), keep }, clock.now());
      db.$client.close();
      expect(data).toEqual({
        before: new Date(clock.now() - 10 * DAY_MS).toISOString(),
        keep,
        versions: pruned.versions,
        dropped: pruned.dropped,
        dropped_bytes: pruned.droppedBytes,
        states_kept: pruned.states,
        credential_notes_dropped: pruned.coverage,
        segments: pruned.segments.map(({ first, last, resolution }) => ({ first, last, resolution })),
      });
      expect(pruned.dropped).toBeGreaterThan(50);
    },
  );

  test("reports nothing for an age beyond all data", async () => {
    await writeHistory();
    expect((await owner.get(`${PATH}?before=2001-01-01T00:00:00Z`)).data).toMatchObject({
      keep: "none",
      versions: 0,
      dropped: 0,
      segments: [],
    });
  });

  test.each([
    ["nothing", ""],
    ["the future", "?before=2126-01-01T00:00:00Z"],
    ["minutes, which may be a mistake for months", "?before=-3m"],
    ["an unknown marker", "?before=marker:nowhere"],
    ["an unknown resolution", "?before=-10d&keep=hourly"],
  ])("refuses %s", async (_case, query) => {
    expect((await owner.get(PATH + query)).body.code).toBe("validation_failed");
  });

  test("requires an Owner's session, and a single organization", async () => {
    const path = `${PATH}?before=-10d`;
    expect((await (await newUser({ role: "Admin" })).client.get(path)).body.code).toBe("auth_permission_denied");
    expect((await newApiKey({ permissions: "Owner" }).client.get(path)).body.code).toBe("auth_session_required");
    await appliance.newOrganization("Second");
    expect((await owner.get(path)).body.code).toBe("auth_permission_denied");
  });
});
