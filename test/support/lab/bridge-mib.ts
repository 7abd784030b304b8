// BRIDGE-MIB (RFC 4188) of br0 in this network namespace, for snmpd's pass_persist, from the kernel's forwarding table.
// With a file of VLANs as its argument, serves Q-BRIDGE-MIB (RFC 4363) too, with the same table in VLAN 1.

import { readdirSync, readFileSync } from "node:fs";
import { type PassedRow, rowAt, servePassPersist } from "./pass-persist.ts";

/** Entry of the VLAN file, with names of bridge ports. */
export interface ServedVlan {
  readonly number: number;
  readonly name: string;
  readonly tagged: readonly string[];
  readonly untagged: readonly string[];
}

const BRIDGE = "br0";
const DOT1D = "1.3.6.1.2.1.17";
/** struct __fdb_entry of linux/if_bridge.h. */
const FDB_ENTRY_BYTES = 16;

interface BridgePort {
  readonly name: string;
  readonly number: number;
  readonly ifIndex: number;
}

interface LearnedAddress {
  readonly mac: Uint8Array;
  readonly port: number;
  readonly isOwn: boolean;
}

function rows(vlans: readonly ServedVlan[]): PassedRow[] {
  const ports = bridgePorts();
  const learned = forwardingTable();
  const found: PassedRow[] = [];
  const add = (oid: string, type: PassedRow["type"], value: string | number) =>
    found.push(rowAt(`${DOT1D}${oid}`, type, value));
  const status = (entry: LearnedAddress) => (entry.isOwn ? 4 : 3);
  add(".1.1.0", "octet", text(`/sys/class/net/${BRIDGE}/address`).replaceAll(":", " "));
  add(".1.2.0", "integer", ports.length);
  add(".1.3.0", "integer", 2);
  for (const { number, ifIndex } of ports) {
    add(`.1.4.1.1.${number}`, "integer", number);
    add(`.1.4.1.2.${number}`, "integer", ifIndex);
  }
  for (const entry of learned) {
    const index = entry.mac.join(".");
    add(`.4.3.1.1.${index}`, "octet", [...entry.mac].map((byte) => byte.toString(16).padStart(2, "0")).join(" "));
    add(`.4.3.1.2.${index}`, "integer", entry.port);
    add(`.4.3.1.3.${index}`, "integer", status(entry));
  }
  if (vlans.length === 0) return found;

  for (const entry of learned) {
    const index = `1.${entry.mac.join(".")}`;
    add(`.7.1.2.2.1.2.${index}`, "integer", entry.port);
    add(`.7.1.2.2.1.3.${index}`, "integer", status(entry));
  }
  for (const vlan of vlans) {
    const untagged = portList(vlan.untagged, ports);
    const egress = portList([...vlan.untagged, ...vlan.tagged], ports);
    add(`.7.1.4.2.1.3.0.${vlan.number}`, "gauge", vlan.number);
    add(`.7.1.4.2.1.4.0.${vlan.number}`, "octet", egress);
    add(`.7.1.4.2.1.5.0.${vlan.number}`, "octet", untagged);
    add(`.7.1.4.3.1.1.${vlan.number}`, "string", vlan.name);
    add(`.7.1.4.3.1.2.${vlan.number}`, "octet", egress);
    add(`.7.1.4.3.1.4.${vlan.number}`, "octet", untagged);
    add(`.7.1.4.3.1.5.${vlan.number}`, "integer", 1);
    for (const { name, number } of ports)
      if (vlan.untagged.includes(name)) add(`.7.1.4.5.1.1.${number}`, "gauge", vlan.number);
  }
  return found;
}

function bridgePorts(): BridgePort[] {
  const ports = readdirSync(`/sys/class/net/${BRIDGE}/brif`).map((name) => ({
    name,
    number: Number(text(`/sys/class/net/${name}/brport/port_no`)),
    ifIndex: Number(text(`/sys/class/net/${name}/ifindex`)),
  }));
  return ports.sort((a, b) => a.number - b.number);
}

function forwardingTable(): LearnedAddress[] {
  const bytes = readFileSync(`/sys/class/net/${BRIDGE}/brforward`);
  const entries: LearnedAddress[] = [];
  for (let offset = 0; offset + FDB_ENTRY_BYTES <= bytes.length; offset += FDB_ENTRY_BYTES)
    entries.push({
      mac: bytes.subarray(offset, offset + 6),
      port: bytes[offset + 6] as number,
      isOwn: bytes[offset + 7] === 1,
    });
  return entries;
}

/** PortList (RFC 4363): the first bit is port 1. */
function portList(names: readonly string[], ports: readonly BridgePort[]): string {
  const bytes = new Uint8Array(Math.ceil(Math.max(8, ...ports.map(({ number }) => number)) / 8));
  for (const { name, number } of ports) {
    const bit = number - 1;
    if (names.includes(name)) bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7));
  }
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

function text(path: string): string {
  return readFileSync(path, "utf8").trim();
}

if (import.meta.main) {
  const path = process.argv[2];
  const vlans = path === undefined ? [] : (JSON.parse(readFileSync(path, "utf8")) as ServedVlan[]);
  await servePassPersist(() => rows(vlans));
}
