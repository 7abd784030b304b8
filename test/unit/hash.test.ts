import { expect, test } from "bun:test";
import { CHAIN_START, hashTransaction } from "../../src/db/hash.ts";

const actor = { actor_type: "User", actor_id: "u", actor_name: "Ada" };
const position = { sequence: 7, at: 1_000, wall_at: 1_001, last_n: 12 };
const transaction = {
  ...position,
  ...actor,
  organization_id: "o",
  request_id: "r",
  source: "host.update",
  reason: null,
};
const versions = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const hashOf = (changes: Partial<Parameters<typeof hashTransaction>[1]>, hashes = versions) =>
  Buffer.from(hashTransaction(CHAIN_START, { ...transaction, ...changes }, hashes)).toString("hex");

test("a transaction without a reason hashes as before reasons existed", () => {
  const text = "1:7;4:1000;4:1001;1:o;4:User;1:u;3:Ada;1:r;11:host.update;2:12;1:2;";
  const expected = new Bun.CryptoHasher("sha256").update(CHAIN_START).update(text);
  for (const hash of versions) expected.update(hash);
  expect(hashOf({})).toBe(expected.digest("hex"));
});

test("transactions with different reasons, or a reason at another position, hash differently", () => {
  const framed = Buffer.from("3:why;".padEnd(32, "."));
  const hashes = [
    hashOf({}),
    hashOf({ reason: "why" }),
    hashOf({ reason: "Why" }),
    hashOf({ reason: "2:why" }),
    hashOf({ reason: "why", request_id: null }),
    hashOf({ request_id: "why" }),
    hashOf({ source: "host.updatewhy" }),
    hashOf({ reason: "why" }, versions.slice(1)),
    hashOf({}, [...versions, new Uint8Array(framed)]),
    hashOf({ reason: framed.toString().slice(2) }),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});
