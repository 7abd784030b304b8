// What things are called in sentences for people.

import { expect, test } from "bun:test";
import { countedEntities, oneEntity } from "../../src/base/entity-words.ts";
import { KINDS } from "../../src/resources/kinds.ts";

test("every kind has words that a sentence can use", () => {
  for (const kind of KINDS)
    expect([kind.name, oneEntity(kind.name), countedEntities(kind.name, 2)]).toEqual([
      kind.name,
      expect.stringMatching(/^(a [^aeio]|an [AIaeio])[\w ]+$/),
      expect.stringMatching(/^2 [\w ]+s$/),
    ]);
});

test("what the field writes in capitals stays so, and the article follows the sound", () => {
  expect(["vlan", "ip_address", "if_entry", "api_key", "user", "organization", "host"].map(oneEntity)).toEqual([
    "a VLAN",
    "an IP address",
    "an interface entry",
    "an API key",
    "a user",
    "an organization",
    "a host",
  ]);
  expect([countedEntities("if_entry", 1), countedEntities("if_entry", 2), countedEntities("fdb_entry", 0)]).toEqual([
    "1 interface entry",
    "2 interface entries",
    "0 forwarding entries",
  ]);
});
