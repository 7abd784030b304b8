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
  for (let seed = 1; seed <= ROUNDS; seed++) checkDevice(deviceOf(arbitraryReads(seededRandom(seed))), seed);
});

test("every row of a misreporting device is accounted for, and stored data equal reported data", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    for (const reads of [arbitraryReads(seededRandom(seed)), plausibleReads(seededRandom(seed))]) {
      const device = deviceOf(reads);
      const balanced = Object.fromEntries(DEVICE_TABLES.map((table) => [table, addsUp(device.rows[table])]));
      expect({ seed, ...balanced }).toEqual({
        seed,
        ...Object.fromEntries(DEVICE_TABLES.map((table) => [table, true])),
      });
      const read = DEVICE_TABLES.map((table) => rowsRead(reads, table));
      expect({ seed, read: DEVICE_TABLES.map((table) => device.rows[table].read) }).toEqual({ seed, read });
      const cdpCount = (device.interfaces ?? []).reduce((sum, port) => sum + (port.cdp?.length ?? 0), 0);
      const kept = [device.arp?.length ?? 0, device.addresses?.length ?? 0, cdpCount];
      const { arp, addresses, cdp } = device.rows;
      expect({ seed, kept: [arp.kept, addresses.kept, cdp.kept] }).toEqual({ seed, kept });
    }
  }
});

function addsUp({ read, kept, set_aside }: RowCount): boolean {
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
    const device = deviceOf(plausibleReads(seededRandom(seed)));
    checkDevice(device, seed);
    expect(deviceOf(plausibleReads(seededRandom(seed)))).toEqual(device);
  }
});

function checkDevice(device: Device, seed: number): void {
  const wrong: unknown[] = [];
  const expectThat = (isValid: boolean, label: unknown): void => {
    if (!isValid) wrong.push(label);
  };
  const expectOptional = <Value>(value: Value | null | undefined, isValid: (value: Value) => boolean): void =>
    expectThat(value === undefined || value === null || isValid(value), value);
  const isText = (value: string): boolean =>
    value.length <= TEXT_MAX_LENGTH && !/\p{Cc}/u.test(value) && value === value.trim();
  const isWithin = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max;
  const expectText = (value: string | null | undefined) => expectOptional(value, (text) => isText(text) && text !== "");
  const expectVlan = (value: number | null | undefined) => expectOptional(value, (number) => isWithin(number, 4_094));
  const expectMac = (value: string | null | undefined): void =>
    expectOptional(value, (found) => MAC.test(found) && found !== "00:00:00:00:00:00");
  const expectAddress = (value: string | undefined): void =>
    expectThat(value === undefined || parseIp(value)?.text === value, value);
  const expectIfIndex = (value: number | null) => expectThat(value === null || isWithin(value, 2 ** 31 - 1), value);
  const expectAscending = <Item>(items: readonly Item[], key: (item: Item) => string | number, label: string): void =>
    expectThat(
      items.every((item, index) => index === 0 || key(items[index - 1] as Item) < key(item)),
      label,
    );

  for (const table of DEVICE_TABLES) {
    const { state, problem } = device.tables[table];
    expectThat((state === "partial" || state === "failed") === (problem !== null), [table, state, problem]);
  }
  const { sys_name, sys_descr, sys_location, sys_contact, manufacturer, model, serial_number, chassis_id } = device;
  for (const value of [sys_name, sys_descr, sys_location, sys_contact, manufacturer, model, serial_number])
    expectText(value);
  expectText(chassis_id?.value);
  expectOptional(device.sys_object_id, (oid) => /^\d+(\.\d+)+$/.test(oid));
  expectMac(device.bridge_address);
  expectOptional(device.chassis_id, ({ subtype }) => CHASSIS_ID_SUBTYPES.includes(subtype));
  expectAscending(device.interfaces ?? [], (port) => port.if_index, "interfaces");
  expectAscending(device.vlans ?? [], (vlan) => vlan.number, "vlans");
  for (const vlan of device.vlans ?? []) {
    expectVlan(vlan.number);
    expectText(vlan.name);
  }
  expectThat(
    new Set(device.addresses?.map((address) => address.ip_address)).size === (device.addresses?.length ?? 0),
    "addresses twice",
  );
  for (const entry of device.addresses ?? []) {
    expectAddress(entry.ip_address);
    expectIfIndex(entry.if_index);
    const bits = entry.ip_address.includes(":") ? 128 : 32;
    expectThat(entry.prefix_length === null || (entry.prefix_length >= 1 && entry.prefix_length <= bits), entry);
  }
  for (const neighbor of device.arp ?? []) {
    expectAddress(neighbor.ip_address);
    expectMac(neighbor.mac_address);
    expectIfIndex(neighbor.if_index);
  }
  for (const port of device.interfaces ?? []) {
    expectThat(!Object.values(port).includes(undefined), port);
    expectIfIndex(port.if_index);
    expectOptional(port.if_descr, isText);
    expectText(port.if_name);
    expectText(port.if_alias);
    expectMac(port.mac_address);
    expectVlan(port.native_vlan);
    expectThat(port.if_type === undefined || (port.if_type >= 1 && port.if_type < 2 ** 31), port.if_type);
    expectOptional(port.speed_bps, (speed) => Number.isSafeInteger(speed) && speed > 0);
    expectThat(port.admin_status === undefined || ADMIN_STATUSES.includes(port.admin_status), port.admin_status);
    expectThat(port.oper_status === undefined || OPER_STATUSES.includes(port.oper_status), port.oper_status);
    for (const number of port.vlans ?? []) expectVlan(number);
    expectAscending(port.vlans ?? [], (number) => number, "vlans of an interface");
    for (const entry of port.forwarding ?? []) {
      expectMac(entry.mac_address);
      expectVlan(entry.vlan_number);
    }
    expectAscending(
      port.forwarding ?? [],
      (entry) => `${entry.mac_address} ${String(entry.vlan_number ?? 0).padStart(4, "0")}`,
      "forwarding",
    );
    for (const announced of port.lldp ?? []) {
      for (const value of [announced.sys_name, announced.sys_desc, announced.port_desc]) expectText(value);
      for (const id of [announced.chassis_id, announced.port_id]) expectText(id?.value);
      expectThat(announced.port_id === undefined || PORT_ID_SUBTYPES.includes(announced.port_id.subtype), announced);
      expectAddress(announced.mgmt_addr ?? undefined);
    }
    expectAscending(port.lldp ?? [], (announced) => JSON.stringify(announced), "lldp");
    for (const announced of port.cdp ?? []) {
      for (const value of [announced.device_id, announced.port_id, announced.platform]) expectText(value);
      expectAddress(announced.address);
    }
    expectAscending(port.cdp ?? [], (announced) => JSON.stringify(announced), "cdp");
  }
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
}

/** Arbitrary values under arbitrary indexes. */
function arbitraryReads(random: SeededRandom): Reads {
  return buildReads(random, () => anyIndex(random));
}

/** Plausible indexes, so that their values are evaluated. */
function plausibleReads(random: SeededRandom): Reads {
  return buildReads(random, (step) => (random.integer(8) === 0 ? anyIndex(random) : likelyIndex(random, step)));
}

function buildReads(random: SeededRandom, createIndex: (step: string) => string): Reads {
  const reads = new Map<string, StepRead>();
  for (const step of READING_PLAN) {
    if (random.integer(12) === 0 || step.isNeeded?.(reads) === false) continue;
    step.vlanContexts?.(reads);
    const columns = new Map<string, ColumnRead>();
    for (const name of Object.keys(step.columns ?? {})) {
      if (random.integer(30) === 0) continue;
      const isComplete = random.integer(10) > 0;
      const problem = isComplete || random.integer(3) === 0 ? null : "misreported";
      const values = new Map<string, SnmpValue>();
      for (let count = random.integer(12); count > 0; count--)
        values.set(createIndex(step.name), anyValue(random, name));
      columns.set(name, { isComplete, problem, values });
    }
    const scalars = Object.keys(step.scalars ?? {}).filter(() => random.integer(3) > 0);
    reads.set(step.name, {
      scalars: new Map(scalars.map((name) => [name, anyValue(random, name)])),
      scalarsProblem: random.integer(10) === 0 ? "misreported" : null,
      columns,
    });
  }
  return reads;
}

const SMALL_NUMBERS = [-1, 0, 0.5, 3, 4_094, 4_095, 65_536];
const EXTREME_NUMBERS = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53, -(2 ** 60), NaN, Infinity];
const DOTTED = "10.0.0.1 0.0.0.0 255.255.255.0 1.3.6.1.4.1.9.1 0.0 .. 1.3.6.1.2.1.4.32.1.5.7.1.4.10.0.0.0.24";

function anyValue(random: SeededRandom, name: string): SnmpValue {
  const length = random.pick([0, 1, 4, 5, 6, 8, 16, 17, 20, 70, 5_000]);
  return random.pick<() => SnmpValue>([
    () => random.integer(10),
    () => random.integer(10),
    () => random.pick([...SMALL_NUMBERS, ...EXTREME_NUMBERS]),
    () => random.bytes(length),
    () => random.bytes(6),
    () =>
      new TextEncoder().encode(
        random.pick(["", " ", "Gi0/1", "N/A", "\0\0", "a\r\nb", "00:1b:21:00:00:01", "1,2,3", "🖧".repeat(2_500), name]),
      ),
    () => random.pick([...DOTTED.split(" "), "", "x".repeat(9_000)]),
  ])();
}

function anyIndex(random: SeededRandom): string {
  const subIds = Array.from({ length: random.integer(24) }, () =>
    random.pick([0, 1, 4, 6, 16, 255, 256, 2 ** 31, 2 ** 32 - 1, random.integer(300)]),
  );
  const index = subIds.join(".");
  return random.pick([index, index, "", ".", "1..2", "-1", "a.b", "99999999999999999999", `${index}.`]);
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
