// Normalization of full and abbreviated interface names.

import { describe, expect, test } from "bun:test";
import { interfacePrefixes, numberedInterface } from "../../src/base/interface-name.ts";
import { foldDiacritics } from "../../src/base/text.ts";

describe("an interface name", () => {
  test.each([
    ["gigabitethernet1/0/7", "gi1/0/7"],
    ["gi1/0/7", "gi1/0/7"],
    ["gige0/1", "gi0/1"],
    ["gigabitethernet 1/0/7", "gi1/0/7"],
    ["tengige0/0/0/1", "te0/0/0/1"],
    ["te1/1/1.100", "te1/1/1.100"],
    ["twentyfivegige1/0/1", "twe1/0/1"],
    ["hundredgige0/0", "hu0/0"],
    ["fortygigabitethernet1/1", "fo1/1"],
    ["fastethernet0/1", "fa0/1"],
    ["ethernet1/1", "eth1/1"],
    ["et1", "eth1"],
    ["port-channel10", "po10"],
    ["bundle-ether7", "be7"],
    ["vlan20", "vl20"],
    ["loopback0", "lo0"],
    ["tunnel12", "tu12"],
    ["management1", "mgmt1"],
    ["ma1", "mgmt1"],
  ])("%s becomes %s", (text, name) => expect(numberedInterface(text)?.name).toBe(name));

  test.each(["ge-0/0/7", "gi", "gibson", "1/0/7", "port 7", "gi1/0/7 core", "", "gigabit-ethernet1", "swp1"])(
    "%p is not a known type with a number",
    (text) => expect(numberedInterface(text)).toBeNull(),
  );

  test.each<[string, readonly string[]]>([
    ["gi1/0", ["gi1/0"]],
    ["g1/0", ["gi1/0"]],
    ["gigab", ["gi"]],
    ["te1", ["te1"]],
    ["t1", ["tw1", "te1", "twe1", "tu1"]],
    ["f", ["fa", "fiv", "fo", "fif", "fh"]],
    ["port-", ["po"]],
    ["1/0/7", []],
    ["x", []],
    ["gi1 x", []],
  ])("%s starts with %p", (text, names) => expect(interfacePrefixes(text)).toEqual([...names]));
});

test.each([
  ["zürich", "zurich"],
  ["łódź", "lodz"],
  ["straße", "strasse"],
  ["smørrebrød", "smorrebrod"],
  ["ÿ", "y"],
  ["ά", "α"],
  ["й", "и"],
  ["日本が", "日本が"],
  ["plain 10.2", "plain 10.2"],
])("%s without diacritics is %s", (text, plain) => {
  expect(foldDiacritics(text)).toBe(plain);
  expect(foldDiacritics(plain)).toBe(plain);
});
