// Addresses by subnet as scopes of spans and census, in stores from before these scopes.

import { expect, test } from "bun:test";
import { deriveGroups } from "../../src/history/verify/rebuild.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { populate } from "../support/store/population.ts";
import { Store } from "../support/store/store.ts";

test("a store that counts addresses by no subnet is completed, without duplicates", () => {
  const store = new Store();
  populate(store);
  const client = store.db.$client;
  const ofSubnets = `scope IN (SELECT n * 64 + ${ipAddressKind.code} FROM history_records WHERE kind = ${subnetKind.code})`;
  const tables = ["history_spans", "history_census"];
  const all = () => tables.map((table) => client.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).values());
  const before = all();
  for (const table of tables) expect(client.run(`DELETE FROM ${table} WHERE ${ofSubnets}`).changes).toBeGreaterThan(0);
  expect(verifyLedger(store.db, KINDS).findings).not.toEqual([]);
  for (let each = 0; each < 2; each += 1) {
    deriveGroups(store.db, KINDS);
    expect(all()).toEqual(before);
  }
  expect(verifyLedger(store.db, KINDS).findings).toEqual([]);
  store.close();
});
