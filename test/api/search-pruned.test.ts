// Search over thinned history, and consistency of its index.

import { expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { owner, clock, newHost } = appliance;

test("a name is found until the end of its last version, and not after that version was pruned", async () => {
  let host = await newHost({ name: "alpha" });
  for (const name of ["beta", "gamma"]) {
    clock.advance(1_000);
    host = await expectOk(owner.put(`hosts/${host.id}`, { ...host, name }));
  }
  clock.advance(86_400_000);
  host = await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "delta" }));
  const found = async (q: string) =>
    ((await owner.get(`search?q=${q}`)).data as JsonRecord[]).map(({ name, match, named_until }) => [
      name,
      match.value,
      named_until,
    ]);
  expect(await found("beta")).toHaveLength(1);
  appliance.prune(clock.now() - 3_600_000, "daily");
  // The last state of the first day is retained: gamma.
  expect([await found("alpha"), await found("beta")]).toEqual([[], []]);
  expect(await found("gamma")).toEqual([["delta", "gamma", host.updated_at]]);
  expect(await found("delta")).toEqual([["delta", "delta", null]]);
  expect((await owner.get("hosts?search=beta")).data).toEqual([]);
  const db = openReadOnly(appliance.databasePath);
  expect(verifyLedger(db, KINDS).findings).toEqual([]);
  db.$client.close();
});
