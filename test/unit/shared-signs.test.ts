// Choice of the hosts that are compared with a device, of many that share its signs.

import { expect, test } from "bun:test";
import { COMPARED_HOSTS_MAX, HostsBySharedSigns } from "../../src/discovery/reconcile/shared-signs.ts";

const hosts = (count: number) => Array.from({ length: count }, (_, index) => `host ${index}`);

test("all hosts are compared up to the limit, in the order of their first sign", () => {
  const sharing = new HostsBySharedSigns();
  sharing.add("cards", hosts(COMPARED_HOSTS_MAX));
  sharing.add("serial_numbers", ["host 9"]);
  expect(sharing.closest()).toEqual(hosts(COMPARED_HOSTS_MAX));
});

test("beyond it, those with most groups of signs are, then those with rare signs, then those with most signs", () => {
  const sharing = new HostsBySharedSigns();
  sharing.add("cards", hosts(3_000));
  for (let times = 0; times < 9; times += 1) sharing.add("cards", ["host 2000"]);
  sharing.add("system_name", ["namesake"]);
  sharing.add("addresses", ["host 1000"]);
  sharing.add("serial_numbers", ["spare"]);
  expect(sharing.size).toBe(3_002);
  const others = hosts(COMPARED_HOSTS_MAX - 4);
  expect(sharing.closest()).toEqual([...others, "host 1000", "host 2000", "namesake", "spare"]);
});
