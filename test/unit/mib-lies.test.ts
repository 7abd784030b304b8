// Arbitrary SNMP data: every read results in a device, with all values in range.

import { expect, test } from "bun:test";
import { parseIp } from "../../src/base/ip.ts";
import { DEVICE_TABLES, type Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { ColumnRead, Reads, SnmpValue, StepRead } from "../../src/discovery/mib/reads.ts";
import { TEXT_MAX_LENGTH } from "../../src/discovery/mib/values.ts";
import type { RowCount } from "../../src/discovery/rows.ts";
import {
  ADMIN_STATUSES,
  CHASSIS_ID_SUBTYPES,
  OPER_STATUSES,
  PORT_ID_SUBTYPES,
} from "../../src/resources/if-entries/vocabulary.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";

const ROUNDS = 400;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

test("random misreports still yield a device", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) check(deviceOf(lies(seededRandom(seed))), seed);
});

test("every row of a misreporting device is accounted for, and stored data equal reported data", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    for (const reads of [lies(seededRandom(seed)), halfTruths(seededRandom(seed))]) {
      const device = deviceOf(reads);
      const closed = Object.fromEntries(DEVICE_TABLES.map((table) => [table, closes(device.rows[table])]));
      expect({ seed, ...closed }).toEqual({ seed, ...Object.fromEntries(DEVICE_TABLES.map((table) => [table, true])) });
      expect({ seed, read: DEVICE_TABLES.map((table) => device.rows[table].read) }).toEqual({
        seed,
        read: DEVICE_TABLES.map((table) => rowsRead(reads, table)),
      });
      const interfaces = device.interfaces ?? [];
      const items = (list: "forwarding" | "lldp" | "cdp") =>
        interfaces.reduce((sum, each) => sum + (each[list]?.length ?? 0), 0);
      const { arp, addresses, cdp } = device.rows;
      expect({ seed, kept: [arp.kept, addresses.kept, cdp.kept] }).toEqual({
        seed,
        kept: [device.arp?.length ?? 0, device.addresses?.length ?? 0, items("cdp")],
      });
    }
  }
});

function closes({ read, kept, set_aside }: RowCount): boolean {
  const counts = [kept, ...Object.values(set_aside)];
  return (
    counts.every((count) => Number.isInteger(count) && count >= 0) &&
    counts.reduce((sum, count) => sum + count, 0) === read
  );
}

/** Rows read in every step of the plan: columns read in addition to another step's table are not separate rows. */
function rowsRead(reads: Reads, table: string): number {
  return READING_PLAN.filter((step) => step.table === table && step.rowsIn === undefined).reduce(
    (sum, { name }) =>
      sum + new Set([...(reads.get(name)?.columns.values() ?? [])].flatMap(({ values }) => [...values.keys()])).size,
    0,
  );
}

test("a partly misreporting device is read too, with the same result each time", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const device = deviceOf(halfTruths(seededRandom(seed)));
    check(device, seed);
    expect(deviceOf(halfTruths(seededRandom(seed)))).toEqual(device);
  }
});

function check(device: Device, seed: number): void {
  const wrong: unknown[] = [];
  const must = (isRight: boolean, what: unknown): void => {
    if (!isRight) wrong.push(what);
  };
  const text = (value: string | null | undefined, allowsEmpty = false): void =>
    must(
      value === undefined ||
        value === null ||
        (value.length <= TEXT_MAX_LENGTH &&
          !/\p{Cc}/u.test(value) &&
          value === value.trim() &&
          (allowsEmpty || value !== "")),
      value,
    );
  const vlan = (value: number | null | undefined): void =>
    must(value === undefined || value === null || (Number.isInteger(value) && value >= 1 && value <= 4_094), value);
  const mac = (value: string | null | undefined): void =>
    must(value === undefined || value === null || (MAC.test(value) && value !== "00:00:00:00:00:00"), value);
  const address = (value: string | undefined): void =>
    must(value === undefined || parseIp(value)?.text === value, value);
  const ifIndex = (value: number | null): void =>
    must(value === null || (Number.isInteger(value) && value >= 1 && value <= 2 ** 31 - 1), value);
  const ascending = <Item>(items: readonly Item[], key: (item: Item) => string | number, what: string): void =>
    must(
      items.every((item, at) => at === 0 || key(items[at - 1] as Item) < key(item)),
      what,
    );

  for (const table of DEVICE_TABLES) {
    const { state, problem } = device.tables[table];
    must((state === "partial" || state === "failed") === (problem !== null), [table, state, problem]);
  }
  for (const value of [
    device.sys_name,
    device.sys_descr,
    device.sys_location,
    device.sys_contact,
    device.manufacturer,
    device.model,
    device.serial_number,
    device.chassis_id?.value,
  ])
    text(value);
  must(
    device.sys_object_id === undefined || device.sys_object_id === null || /^\d+(\.\d+)+$/.test(device.sys_object_id),
    device.sys_object_id,
  );
  mac(device.bridge_address);
  must(
    device.chassis_id === undefined ||
      device.chassis_id === null ||
      CHASSIS_ID_SUBTYPES.includes(device.chassis_id.subtype),
    device.chassis_id,
  );
  ascending(device.interfaces ?? [], (each) => each.if_index, "interfaces");
  ascending(device.vlans ?? [], (each) => each.number, "vlans");
  for (const each of device.vlans ?? []) {
    vlan(each.number);
    text(each.name);
  }
  must(
    new Set(device.addresses?.map((each) => each.ip_address)).size === (device.addresses?.length ?? 0),
    "addresses twice",
  );
  for (const each of device.addresses ?? []) {
    address(each.ip_address);
    ifIndex(each.if_index);
    must(
      each.prefix_length === null ||
        (each.prefix_length >= 1 && each.prefix_length <= (each.ip_address.includes(":") ? 128 : 32)),
      each,
    );
  }
  for (const each of device.arp ?? []) {
    address(each.ip_address);
    mac(each.mac_address);
    ifIndex(each.if_index);
  }
  for (const each of device.interfaces ?? []) {
    must(!Object.values(each).includes(undefined), each);
    ifIndex(each.if_index);
    text(each.if_descr, true);
    text(each.if_name);
    text(each.if_alias);
    mac(each.mac_address);
    vlan(each.native_vlan);
    must(each.if_type === undefined || (each.if_type >= 1 && each.if_type < 2 ** 31), each.if_type);
    must(
      each.speed_bps === undefined ||
        each.speed_bps === null ||
        (Number.isSafeInteger(each.speed_bps) && each.speed_bps > 0),
      each.speed_bps,
    );
    must(each.admin_status === undefined || ADMIN_STATUSES.includes(each.admin_status), each.admin_status);
    must(each.oper_status === undefined || OPER_STATUSES.includes(each.oper_status), each.oper_status);
    for (const number of each.vlans ?? []) vlan(number);
    ascending(each.vlans ?? [], (number) => number, "vlans of an interface");
    for (const entry of each.forwarding ?? []) {
      mac(entry.mac_address);
      vlan(entry.vlan_number);
    }
    ascending(
      each.forwarding ?? [],
      (entry) => `${entry.mac_address} ${String(entry.vlan_number ?? 0).padStart(4, "0")}`,
      "forwarding",
    );
    for (const announced of each.lldp ?? []) {
      for (const value of [
        announced.chassis_id?.value,
        announced.port_id?.value,
        announced.sys_name,
        announced.sys_desc,
        announced.port_desc,
      ])
        text(value);
      must(announced.port_id === undefined || PORT_ID_SUBTYPES.includes(announced.port_id.subtype), announced);
      address(announced.mgmt_addr ?? undefined);
    }
    ascending(each.lldp ?? [], (announced) => JSON.stringify(announced), "lldp");
    for (const announced of each.cdp ?? []) {
      for (const value of [announced.device_id, announced.port_id, announced.platform]) text(value);
      address(announced.address);
    }
    ascending(each.cdp ?? [], (announced) => JSON.stringify(announced), "cdp");
  }
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
}

/** Arbitrary values under arbitrary indexes. */
function lies(random: SeededRandom): Reads {
  return made(random, (column) => {
    const values = new Map<string, SnmpValue>();
    for (let count = random.integer(12); count > 0; count--) values.set(anyIndex(random), anyValue(random, column));
    return values;
  });
}

/** Plausible indexes, so that their values are evaluated. */
function halfTruths(random: SeededRandom): Reads {
  return made(random, (column, step) => {
    const values = new Map<string, SnmpValue>();
    for (let count = random.integer(12); count > 0; count--)
      values.set(random.integer(8) === 0 ? anyIndex(random) : likelyIndex(random, step), anyValue(random, column));
    return values;
  });
}

function made(random: SeededRandom, valuesOf: (column: string, step: string) => Map<string, SnmpValue>): Reads {
  const reads = new Map<string, StepRead>();
  for (const step of READING_PLAN) {
    if (random.integer(12) === 0 || step.isNeeded?.(reads) === false) continue;
    step.vlanContexts?.(reads);
    const columns = new Map<string, ColumnRead>();
    for (const name of Object.keys(step.columns ?? {})) {
      if (random.integer(30) === 0) continue;
      const isComplete = random.integer(10) > 0;
      columns.set(name, {
        isComplete,
        problem: isComplete || random.integer(3) === 0 ? null : "it lies",
        values: valuesOf(name, step.name),
      });
    }
    const scalars = Object.keys(step.scalars ?? {}).filter(() => random.integer(3) > 0);
    reads.set(step.name, {
      scalars: new Map(scalars.map((name) => [name, anyValue(random, name)])),
      scalarsProblem: random.integer(10) === 0 ? "it lies" : null,
      columns,
    });
  }
  return reads;
}

function anyValue(random: SeededRandom, name: string): SnmpValue {
  const length = random.pick([0, 1, 4, 5, 6, 8, 16, 17, 20, 70, 5_000]);
  return random.pick<() => SnmpValue>([
    () => random.integer(10),
    () => random.integer(10),
    () =>
      random.pick([
        -1,
        0,
        0.5,
        3,
        4_094,
        4_095,
        65_536,
        2 ** 31 - 1,
        2 ** 31,
        2 ** 32 - 1,
        2 ** 53,
        -(2 ** 60),
        NaN,
        Infinity,
      ]),
    () => random.bytes(length),
    () => random.bytes(6),
    () =>
      new TextEncoder().encode(
        random.pick(["", " ", "Gi0/1", "N/A", "\0\0", "a\r\nb", "00:1b:21:00:00:01", "1,2,3", "🖧".repeat(2_500), name]),
      ),
    () =>
      random.pick([
        "10.0.0.1",
        "0.0.0.0",
        "255.255.255.0",
        "1.3.6.1.4.1.9.1",
        "0.0",
        "",
        "..",
        "1.3.6.1.2.1.4.32.1.5.7.1.4.10.0.0.0.24",
        "x".repeat(9_000),
      ]),
  ])();
}

function anyIndex(random: SeededRandom): string {
  const subIds = Array.from({ length: random.integer(24) }, () =>
    random.pick([0, 1, 4, 6, 16, 255, 256, 2 ** 31, 2 ** 32 - 1, random.integer(300)]),
  );
  return random.pick([
    subIds.join("."),
    subIds.join("."),
    "",
    ".",
    "1..2",
    "-1",
    "a.b",
    "99999999999999999999",
    `${subIds.join(".")}.`,
  ]);
}

function likelyIndex(random: SeededRandom, step: string): string {
  const number = (): number => 1 + random.integer(6);
  const octets = (count: number): string => Array.from({ length: count }, () => random.integer(256)).join(".");
  if (step.includes("tp_fdb")) return step.startsWith("dot1d") ? octets(6) : `${number()}.${octets(6)}`;
  if (step.includes("man_addr")) return `0.${number()}.1.1.4.${octets(4)}`;
  if (step.includes("rem_table")) return `0.${number()}.1`;
  if (step === "ip_addr_table") return octets(4);
  if (step === "ip_address_table") return random.pick([`1.4.${octets(4)}`, `2.16.${octets(16)}`, `4.20.${octets(20)}`]);
  if (step.includes("_net_to_media")) return `${number()}.${octets(step.startsWith("ipv6") ? 16 : 4)}`;
  if (step.includes("net_to_physical")) return `${number()}.1.4.${octets(4)}`;
  if (step === "ipv6_addr_table") return `${number()}.${octets(16)}`;
  if (["cdp_cache_table", "vtp_vlan_table", "dot1q_vlan_current_table", "vlan_bridge"].includes(step))
    return `${number()}.${number()}`;
  return String(number());
}
