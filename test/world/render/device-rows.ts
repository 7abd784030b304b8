// Rows that the agent of a device serves: system, IF-MIB, IP-MIB addresses, VLANs and ports of Q-BRIDGE-MIB, ENTITY-MIB
// and aggregates.

import { type Device, hasEntityMib, IF_TYPE, type Interface } from "../site/machines.ts";
import { CAPABILITIES } from "./capabilities.ts";
import { bits, octets, type Rows, RowWriter, text } from "./rows.ts";

const MIB2 = "1.3.6.1.2.1";

/** @param now for sysUpTime */
export function systemRows(device: Device, now: number): Rows {
  const rows = new RowWriter();
  rows.scalar(`${MIB2}.1.1.0`, text(device.descr));
  rows.scalar(`${MIB2}.1.2.0`, device.objectId);
  rows.scalar(`${MIB2}.1.3.0`, Math.floor((now - device.bootedAt) / 10));
  rows.scalar(`${MIB2}.1.4.0`, text("noc@example.net"));
  rows.scalar(`${MIB2}.1.5.0`, text(device.name));
  rows.scalar(`${MIB2}.1.6.0`, text("Building 1"));
  rows.scalar(`${MIB2}.1.7.0`, SERVICES[device.role] ?? 72);
  rows.scalar("1.3.6.1.6.3.10.2.1.1.0", text(device.engineId));
  return rows;
}

const SERVICES: Partial<Record<Device["role"], number>> = {
  Core: 6,
  Distribution: 2,
  Access: 2,
  Firewall: 76,
  AccessPoint: 2,
};

/** @param now after which deleted interfaces are served no longer */
export function interfaceRows(device: Device, now: number): Rows {
  const rows = new RowWriter(`${MIB2}.2.2.1`);
  const staleRows = staleRowsOf(device, now);
  rows.scalar(`${MIB2}.2.1.0`, device.interfaces.size + staleRows.length);
  for (const { ifIndex, name } of staleRows)
    rows.add(`${ifIndex}`, { 2: text(name), 3: IF_TYPE.ethernet, 5: 0, 6: octets(null), 7: 1, 8: 2 });
  for (const { ifIndex, name, type, mac, isUp } of entriesOf(device))
    rows.add(`${ifIndex}`, {
      2: text(name),
      3: type,
      5: type === IF_TYPE.ethernet ? 1_000_000_000 : 0,
      6: octets(mac),
      7: 1,
      8: isUp ? 1 : 2,
    });
  return rows;
}

export function nameRows(device: Device, now: number): Rows {
  const rows = new RowWriter(`${MIB2}.31.1.1.1`);
  for (const { ifIndex, name } of staleRowsOf(device, now))
    rows.add(`${ifIndex}`, { 1: text(name), 15: 0, 18: text("") });
  for (const { ifIndex, name, type, alias } of entriesOf(device))
    rows.add(`${ifIndex}`, { 1: text(name), 15: type === IF_TYPE.ethernet ? 1_000 : 0, 18: text(alias) });
  return rows;
}

/** Interfaces that no longer exist and are still served. */
export function staleRowsOf({ staleRows }: Device, now: number): Device["staleRows"] {
  return staleRows.filter(({ until }) => until > now);
}

/** ifStackTable and dot3adAggPortTable. */
export function aggregateRows(device: Device): Rows {
  const stack = new RowWriter(`${MIB2}.31.1.2.1`);
  const ports = new RowWriter("1.2.840.10006.300.43.1.2.1.1");
  for (const { lag, ifIndex } of entriesOf(device)) {
    const aggregate = lag === null ? undefined : device.interfaces.get(lag);
    if (aggregate === undefined) continue;
    stack.add(`${aggregate.ifIndex}.${ifIndex}`, { 3: 1 });
    ports.add(`${ifIndex}`, { 12: aggregate.ifIndex, 13: aggregate.ifIndex });
  }
  return { scalars: new Map(), columns: new Map([...stack.columns, ...ports.columns]) };
}

export function addressRows(device: Device): Rows {
  const rows = new RowWriter(`${MIB2}.4.20.1`);
  for (const { ifIndex, addresses } of entriesOf(device))
    for (const { ip, prefix } of addresses) rows.add(ip, { 1: ip, 2: ifIndex, 3: [...maskOf(prefix)].join(".") });
  return rows;
}

function maskOf(prefix: number): Uint8Array {
  return Uint8Array.from({ length: 4 }, (_, index) => 256 - 2 ** (8 - Math.min(8, Math.max(0, prefix - 8 * index))));
}

/** dot1dBasePortTable, dot1qVlanStaticTable, dot1qVlanCurrentTable and dot1qPvid of a switch. */
export function vlanRows(device: Device): Rows {
  if (device.vlans.size === 0) return { scalars: new Map(), columns: new Map() };
  const base = new RowWriter(`${MIB2}.17.1.4.1`);
  const names = new RowWriter(`${MIB2}.17.7.1.4.3.1`);
  const current = new RowWriter(`${MIB2}.17.7.1.4.2.1`);
  const ports = new RowWriter(`${MIB2}.17.7.1.4.5.1`);
  const bridged = entriesOf(device).filter(isBridgePort);
  for (const { ifIndex, vlan } of bridged) {
    base.add(`${ifIndex}`, { 2: ifIndex });
    ports.add(`${ifIndex}`, { 1: vlan });
  }
  const trunks = bridged.filter(({ isTrunk }) => isTrunk);
  for (const [number, name] of device.vlans) {
    const egress = bits(
      [...trunks, ...bridged.filter((each) => !each.isTrunk && each.vlan === number)].map(({ ifIndex }) => ifIndex),
    );
    names.add(`${number}`, { 1: text(name), 2: egress });
    current.add(`0.${number}`, { 3: number, 4: egress });
  }
  return {
    scalars: new Map([[`${MIB2}.17.1.1.0`, octets(device.chassisMac)]]),
    columns: new Map([...base.columns, ...names.columns, ...current.columns, ...ports.columns]),
  };
}

/** Aggregates are bridge ports, their members are not. */
function isBridgePort({ vlan, lag, type }: Interface): boolean {
  return vlan !== null && lag === null && (type === IF_TYPE.ethernet || type === IF_TYPE.lag);
}

export function entityRows(device: Device): Rows {
  const rows = new RowWriter(`${MIB2}.47.1.1.1.1`);
  if (!hasEntityMib(device)) return rows;
  const isStack = device.members.length > 1;
  if (isStack)
    rows.add("1", {
      2: text("stack"),
      4: 0,
      5: 11,
      6: -1,
      7: text("stack"),
      11: text(""),
      12: text("Example"),
      13: text(device.model),
    });
  for (const { number, serial } of [...device.members].sort((a, b) => a.number - b.number))
    rows.add(`${number * 1_000 + 1}`, {
      2: text(device.model),
      4: isStack ? 1 : 0,
      5: 3,
      6: isStack ? number : -1,
      7: text(`unit ${number}`),
      11: text(serial),
      12: text("Example"),
      13: text(device.model),
    });
  return rows;
}

/** lldpLocalSystemData and lldpLocPortTable. */
export function localLldpRows(device: Device): Rows {
  const rows = new RowWriter("1.0.8802.1.1.2.1.3.7.1");
  if (device.isLldpDisabled) return rows;
  rows.scalar("1.0.8802.1.1.2.1.3.1.0", 4);
  rows.scalar("1.0.8802.1.1.2.1.3.2.0", octets(device.chassisMac));
  rows.scalar("1.0.8802.1.1.2.1.3.3.0", text(device.name));
  for (const scalar of [5, 6]) rows.scalar(`1.0.8802.1.1.2.1.3.${scalar}.0`, Uint8Array.of(CAPABILITIES[device.role]));
  for (const { ifIndex, name, type } of entriesOf(device))
    if (type === IF_TYPE.ethernet) rows.add(`${ifIndex}`, { 2: 5, 3: text(name), 4: text(name) });
  return rows;
}

/** In the order of a walk: by ifIndex. */
function entriesOf({ interfaces }: Device): Interface[] {
  return [...interfaces.values()].sort((a, b) => a.ifIndex - b.ifIndex);
}
