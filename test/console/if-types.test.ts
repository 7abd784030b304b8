// Names of interface types, compared with the registry.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { IF_TYPES, ifTypeLabel } from "../../src/console/text/if-types.ts";

/** As published by IANA, from the tests' SNMP library. */
const REGISTRY = new URL("../../node_modules/net-snmp/lib/mibs/IANAifType-MIB.mib", import.meta.url);

test("each type has its registry name, and a unique word", () => {
  // The tunnel type enumeration follows it.
  const types = readFileSync(REGISTRY, "utf8").split(/^IANAtunnelType/m)[0] as string;
  const names = new Map(
    [...types.matchAll(/^\s*([a-z][\w-]*)\s*\((\d+)\)/gm)].map(([, name, number]) => [Number(number), name]),
  );
  expect(names.get(6)).toBe("ethernetCsmacd");
  const registryNames = Object.entries(IF_TYPES).map(
    ([number, [, registered]]) => [Number(number), registered] as const,
  );
  expect(registryNames.filter(([number, registered]) => names.get(number) !== registered)).toEqual([]);
  const words = Object.values(IF_TYPES).map(([word]) => word);
  expect(words.length).toBe(new Set(words).size);
});

test("each is shown with its number, an unknown one by number only", () => {
  expect(ifTypeLabel(6)).toEqual({ word: "Ethernet", detail: "ethernetCsmacd, 6" });
  expect(ifTypeLabel(161)).toEqual({ word: "Link aggregation", detail: "ieee8023adLag, 161" });
  expect(ifTypeLabel(61_234)).toEqual({ word: "61234", detail: "IANAifType" });
});
