// Switch tree in a built store, with stations that move between edge ports and are learned on all switches: test data
// for locate.

import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { HOST_DEFAULTS, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { MANUAL } from "../../src/resources/source.ts";
import { BuildWriter } from "./build-writer.ts";
import type { BuiltStore } from "./store.ts";

/** Interface entries per switch; the last one is the uplink. */
export const ENTRIES = 50;

interface Stations {
  readonly switches: number;
  readonly stations: number;
  /** Moves from port to port per station, one transaction each. */
  readonly moves: number;
}

/** Makes the first hosts a tree of switches, with the first one as root, and adds stations that move between ports. */
export function addStations(
  store: BuiltStore,
  { switches, stations, moves }: Stations,
  report: (line: string) => void,
): void {
  const writer = new BuildWriter(openWritable(dataFiles(store.directory).database), COMMANDS);
  const started = performance.now();
  const { organizationId, subnetId } = store;
  const hostIds = (store.hostIds.campus as string[]).slice(0, switches);
  const ports = writer.run<string[][]>("link", { hostIds });
  const context = { organizationId, networkId: store.networkIds.campus as string, subnetId, ports, hostIds };
  for (let first = 0; first < stations; first += 100)
    writer.run("stations", { ...context, first, count: Math.min(100, stations - first) });
  for (let move = 1; move <= moves; move += 1) {
    const inputs = Array.from({ length: stations }, (_, station) => ({ ...context, station, move }));
    for (let start = 0; start < stations; start += 50) writer.runAll("move", inputs.slice(start, start + 50));
    report(`  move ${move} of ${moves}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  writer.close();
}

interface Context {
  readonly organizationId: string;
  readonly networkId: string;
  readonly subnetId: string;
  /** Entry ids by switch; the last one is the uplink. */
  readonly ports: readonly (readonly string[])[];
  readonly hostIds: readonly string[];
}

/** Clears the LLDP fields of an interface. */
export const NO_NEIGHBOR = {
  lldp_chassis_id: undefined,
  lldp_port_id: undefined,
  lldp_sys_name: undefined,
  lldp_port_desc: undefined,
};

const COMMANDS = {
  link: (tx: WriteTransaction, input: { hostIds: readonly string[] }) => {
    const entries = input.hostIds.map((id) =>
      tx.children(ifEntryKind, "host_n", id).sort((a, b) => a.if_index - b.if_index),
    );
    for (const [position, ownEntries] of entries.entries()) {
      for (const entry of ownEntries) tx.update(ifEntryKind, entry.id, NO_NEIGHBOR);
      const uplink = ownEntries.at(-1) as IfEntryRecord;
      // LLDP reports every other uplink; the rest are recognized by the number of stations behind them.
      const neighbor = { type: "Host" as const, id: input.hostIds[0] as string };
      if (position > 0 && position % 2 === 0)
        tx.update(ifEntryKind, uplink.id, { neighbor, lldp_sys_name: "switch-0" });
    }
    return entries.map((ownEntries) => ownEntries.map((entry) => entry.id));
  },
  stations: (tx: WriteTransaction, input: Context & { first: number; count: number }) => {
    for (let station = input.first; station < input.first + input.count; station += 1) {
      const host = tx.create(hostKind, input.organizationId, {
        source: MANUAL,
        ...HOST_DEFAULTS,
        name: `station-${station}`,
        hostname: `station-${station}.example.net`,
        network_id: input.networkId,
      });
      tx.create(ipAddressKind, input.organizationId, {
        host_id: host.id,
        network_id: input.networkId,
        subnet_id: input.subnetId,
        ip_address: ipOf(station),
        mac_address: macOf(station),
        name: "",
        position: 0,
        first_discovery_id: null,
      });
      const edge = edgeOf(input, station, 0);
      for (const [position, ports] of input.ports.entries())
        learn(tx, input, position, ports.at(position === edge.switch ? edge.port : -1) as string, station);
    }
  },
  /** Changes the forwarding tables of the old and the new edge port, and of the uplinks of both switches. */
  move: (tx: WriteTransaction, input: Context & { station: number; move: number }) => {
    const { station, move, ports } = input;
    const from = edgeOf(input, station, move - 1);
    const to = edgeOf(input, station, move);
    const uplink = (position: number) => ports[position]?.at(-1) as string;
    forget(tx, ports[from.switch]?.[from.port] as string, station);
    if (from.switch !== to.switch) {
      learn(tx, input, from.switch, uplink(from.switch), station);
      forget(tx, uplink(to.switch), station);
    }
    learn(tx, input, to.switch, ports[to.switch]?.[to.port] as string, station);
  },
};

function learn(tx: WriteTransaction, context: Context, position: number, portId: string, station: number): void {
  tx.create(fdbEntryKind, context.organizationId, {
    if_entry_id: portId,
    host_id: context.hostIds[position] as string,
    network_id: context.networkId,
    mac_address: macOf(station),
    vlan_number: 1 + (station % 4),
  });
  tx.setComposed(ifEntryKind, portId, true);
}

function forget(tx: WriteTransaction, portId: string, station: number): void {
  const rows = tx.children(fdbEntryKind, "if_entry_n", portId);
  for (const row of rows) if (row.mac_address === macOf(station)) tx.remove(fdbEntryKind, row.id);
  tx.setComposed(ifEntryKind, portId, rows.length > 1);
}

/** Edge port of a station after this many moves: a pseudo-random walk over switches and ports. */
function edgeOf({ hostIds }: Context, station: number, move: number): { switch: number; port: number } {
  const step = station * 31 + move * 17;
  return { switch: 1 + (step % (hostIds.length - 1)), port: (step * 7) % (ENTRIES - 1) };
}

export function macOf(station: number): string {
  return `00:25:90:00:${(station >> 8).toString(16).padStart(2, "0")}:${(station & 255).toString(16).padStart(2, "0")}`;
}

export function ipOf(station: number): string {
  return `10.77.${station >> 8}.${station & 255}`;
}
