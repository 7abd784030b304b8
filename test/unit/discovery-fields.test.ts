// Merging scan values with inventory values, and matching interfaces to entries.

import { describe, expect, test } from "bun:test";
import { matchInterfaces } from "../../src/discovery/reconcile/interface-matching.ts";
import { neighborSightingsOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import { mergeReported } from "../../src/discovery/reconcile/reported-fields.ts";
import type { ScanWrite } from "../../src/discovery/reconcile/scan-write.ts";
import { HOST_DEFAULTS, type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { DISCOVERED } from "../../src/resources/source.ts";
import { device, ethernet, mac } from "../support/reconcile/sightings.ts";

describe("a scanned value", () => {
  const merged = mergeReported<Record<string, unknown>>;
  const failOnLookup = (): boolean => {
    throw new Error("unexpected lookup");
  };

  test("changes nothing and needs no lookup if it equals the stored one", () => {
    const record = { a: 1, list: [{ b: 2 }] };
    expect(merged(record, { ...structuredClone(record), missing: null }, null, failOnLookup)).toEqual({});
  });

  test("changes nothing if absent", () => {
    expect(merged({ a: 1 }, { a: undefined }, null, failOnLookup)).toEqual({});
  });

  test("replaces discovered ones, and clears those the device no longer has", () => {
    expect(merged({ a: 1, b: "x" }, { a: 2, b: null }, null, () => false)).toEqual({ a: 2, b: null });
    const cleared = merged({ b: "x" }, { b: null }, undefined, () => false);
    expect("b" in cleared && cleared.b === undefined).toBe(true);
  });

  test("is stored next to a manual value, once, until both agree", () => {
    const isManual = (field: string) => field === "name";
    const first = merged({ name: "mine", model: "old" }, { name: "its", model: "new" }, null, isManual);
    expect(first).toEqual({ model: "new", discovered: { name: "its" } });
    const record = { name: "mine", model: "new", discovered: { name: "its" } };
    expect(merged(record, { name: "its", model: "new" }, null, isManual)).toEqual({});
    // A restore may remove a manual value: then the scan's value applies again.
    const restored = merged(record, { name: "its", model: "new" }, null, () => false);
    expect(restored).toEqual({ name: "its", discovered: undefined });
    expect(merged(record, { name: "its 2" }, null, isManual)).toEqual({ discovered: { name: "its 2" } });
    expect(merged(record, { name: "mine" }, null, failOnLookup)).toEqual({ discovered: undefined });
    expect(merged(record, { name: null }, null, isManual)).toEqual({ discovered: { name: null } });
  });

  test("takes over the field when the manual value is cleared", () => {
    const record = { name: "mine", discovered: { name: "its" } };
    expect(merged(record, { name: "other" }, null, () => false)).toEqual({ name: "other", discovered: undefined });
  });
});

test("writing an unknown field of a record does not compile", () => {
  const write = (scan: ScanWrite, host: HostRecord, misspelled: { sys_nmae: string }) => [
    // @ts-expect-error: a record that was found again
    scan.update(hostKind, host, { ...misspelled }),
    // @ts-expect-error: a new record
    scan.create(hostKind, { name: "core-1", network_id: "", source: DISCOVERED, ...HOST_DEFAULTS, ...misspelled }),
    // @ts-expect-error: any other write
    scan.tx.update(hostKind, host.id, { ...misspelled }),
  ];
  expect(write).toHaveLength(3);
});

describe("a device's interfaces", () => {
  const entry = (if_index: number, if_name: string, if_descr = if_name) => ({ if_index, if_name, if_descr });

  test("match entries by number and name", () => {
    const [first, second] = [entry(1, "a"), entry(2, "b")];
    const matched = matchInterfaces([entry(2, "b"), entry(1, "a"), entry(3, "c")], [first, second]);
    expect([...matched.values()]).toEqual([second, first]);
  });

  test("keep their entries when all numbers shift by one", () => {
    const stored = [entry(1, "a"), entry(2, "b"), entry(3, "c")];
    const scanned = [entry(2, "a"), entry(3, "b"), entry(4, "c"), entry(1, "new")];
    const matched = matchInterfaces(scanned, stored);
    expect(scanned.map((scannedEntry) => matched.get(scannedEntry)?.if_name)).toEqual(["a", "b", "c", undefined]);
  });

  test("keep their entry when renamed", () => {
    const stored = [entry(1, "a"), entry(2, "b")];
    const scanned = [entry(1, "a"), entry(2, "uplink")];
    expect(matchInterfaces(scanned, stored).get(scanned[1] as never)).toBe(stored[1]);
  });

  test("are distinguished only by number if they have the same name", () => {
    const stored = [entry(1, "port"), entry(2, "port")];
    const scanned = [entry(2, "port"), entry(3, "port")];
    const matched = matchInterfaces(scanned, stored);
    expect(scanned.map((scannedEntry) => matched.get(scannedEntry)?.if_index)).toEqual([2, undefined]);
  });

  test("never share an entry, whatever their names", () => {
    const names = ["", "a", "b", "c"];
    for (let code = 0; code < 4 ** 6; code += 1) {
      const name = (position: number) => names[Math.floor(code / 4 ** position) % 4] as string;
      const stored = [entry(1, name(0)), entry(2, name(1)), entry(3, name(2))];
      const matched = [...matchInterfaces([entry(1, name(3)), entry(2, name(4)), entry(4, name(5))], stored).values()];
      expect(new Set(matched).size).toBe(matched.length);
    }
  });
});

test("a device's ARP neighbors exclude itself, keep both MAC addresses of one address, and show which one many share", () => {
  const proxied = Array.from({ length: 33 }, (_, number) => {
    return { ip_address: `10.0.1.${number}`, mac_address: mac(66), if_index: 1 };
  });
  const { sightings: neighbors } = neighborSightingsOf(
    device({
      interfaces: [ethernet(1)],
      addresses: [{ ip_address: "10.0.0.1", prefix_length: 24, if_index: 1 }],
      arp: [
        { ip_address: "10.0.0.1", mac_address: mac(1), if_index: 1 },
        { ip_address: "10.0.0.9", mac_address: mac(1), if_index: 1 },
        { ip_address: "10.0.0.2", mac_address: mac(2), if_index: 1 },
        { ip_address: "10.0.0.2", mac_address: mac(3), if_index: 2 },
        { ip_address: "127.0.0.1", mac_address: mac(4), if_index: 1 },
        ...proxied,
      ],
    }),
  );
  expect(neighbors.slice(0, 2)).toEqual([
    { ip_address: "10.0.0.2", mac_address: mac(2), answered: [] },
    { ip_address: "10.0.0.2", mac_address: mac(3), answered: [] },
  ]);
  expect(neighbors).toHaveLength(35);
  for (const row of neighbors.slice(2)) expect(row).toMatchObject({ mac_address: mac(66), is_mac_shared: true });
});
