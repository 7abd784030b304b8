// Tree of switches in a built store, with stations that move between edge ports and are learned on all switches: data
// for locate.

import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind, UNSAID_HOST } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { MANUAL } from "../../src/resources/source.ts";
import type { BuiltStore } from "./store.ts";

/** Per switch; the last one is its uplink. */
export const ENTRIES = 50;

interface Stations {
  readonly switches: number;
  readonly stations: number;
  /** Per station, from port to port; one transaction each. */
  readonly moves: number;
}

const AUTHOR: Author = { type: "System", id: null, name: "benchmark", organizationId: null, requestId: null };

/**
 * Turns the first hosts into a tree of switches with the first as root, and adds stations that move between edge ports.
 */
export function addStations(
  store: BuiltStore,
  { switches, stations, moves }: Stations,
  report: (line: string) => void,
): void {
  const db = openWritable(dataFiles(store.directory).database);
  db.$client.run("PRAGMA synchronous = OFF");
  db.$client.run("PRAGMA cache_size = -400000");
  const writer = new Writer({ db, kinds: KINDS, commands: COMMANDS, clock: systemClock, random: systemRandom });
  const run = <T>(command: string, inputs: readonly unknown[]): T[] =>
    writer
      .execute(inputs.map((input) => ({ command, input, actor: AUTHOR })))
      .map((reply) => outcomeOf<T>(reply as WriteReply).result);
  const started = performance.now();
  const place = {
    organizationId: store.organizationId,
    networkId: store.networkIds.campus as string,
    subnetId: store.subnetId,
  };
  const ids = (store.hostIds.campus as string[]).slice(0, switches);
  const [ports] = run<string[][]>("link", [{ hostIds: ids }]) as [string[][]];
  for (let first = 0; first < stations; first += 100)
    run("stations", [{ ...place, ports, hostIds: ids, first, count: Math.min(100, stations - first) }]);
  for (let move = 1; move <= moves; move += 1) {
    const inputs = Array.from({ length: stations }, (_, station) => ({ ...place, ports, hostIds: ids, station, move }));
    for (let start = 0; start < stations; start += 50) run("move", inputs.slice(start, start + 50));
    report(`  move ${move} of ${moves}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  writer.close();
}

interface Place {
  readonly organizationId: string;
  readonly networkId: string;
  readonly subnetId: string;
  /** Entry ids by switch; the last one is the uplink. */
  readonly ports: readonly (readonly string[])[];
  readonly hostIds: readonly string[];
}

const COMMANDS = {
  link: (tx: WriteTransaction, input: { hostIds: readonly string[] }) => {
    const entries = input.hostIds.map((id) =>
      tx.children(ifEntryKind, "host_n", id).sort((a, b) => a.if_index - b.if_index),
    );
    for (const [position, own] of entries.entries()) {
      for (const entry of own)
        tx.update(ifEntryKind, entry.id, {
          lldp_chassis_id: undefined,
          lldp_port_id: undefined,
          lldp_sys_name: undefined,
          lldp_port_desc: undefined,
        });
      const uplink = own.at(-1) as IfEntryRecord;
      // LLDP reports every other one of them; the others are identified by their crowd.
      if (position > 0 && position % 2 === 0)
        tx.update(ifEntryKind, uplink.id, {
          neighbor: { type: "Host", id: input.hostIds[0] as string },
          lldp_sys_name: "switch-0",
        });
    }
    return entries.map((own) => own.map((entry) => entry.id));
  },
  stations: (tx: WriteTransaction, input: Place & { first: number; count: number }) => {
    for (let station = input.first; station < input.first + input.count; station += 1) {
      const host = tx.create(hostKind, input.organizationId, {
        source: MANUAL,
        ...UNSAID_HOST,
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
      for (const [position, own] of input.ports.entries())
        learn(
          tx,
          input,
          position,
          position === edge.switch ? (own[edge.port] as string) : (own.at(-1) as string),
          station,
        );
    }
  },
  /** Changes of the forwarding tables: the old edge port, the new one, and the uplinks of both. */
  move: (tx: WriteTransaction, input: Place & { station: number; move: number }) => {
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

function learn(tx: WriteTransaction, place: Place, position: number, portId: string, station: number): void {
  tx.create(fdbEntryKind, place.organizationId, {
    if_entry_id: portId,
    host_id: place.hostIds[position] as string,
    network_id: place.networkId,
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

/** Position of a station after this many moves: a pseudo-random walk over switches and ports. */
function edgeOf({ hostIds }: Place, station: number, move: number): { switch: number; port: number } {
  const step = station * 31 + move * 17;
  return { switch: 1 + (step % (hostIds.length - 1)), port: (step * 7) % (ENTRIES - 1) };
}

export function macOf(station: number): string {
  return `00:25:90:00:${(station >> 8).toString(16).padStart(2, "0")}:${(station & 255).toString(16).padStart(2, "0")}`;
}

export function ipOf(station: number): string {
  return `10.77.${station >> 8}.${station & 255}`;
}
