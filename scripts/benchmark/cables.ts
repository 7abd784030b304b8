// Cables between the switches of a built store, as LLDP neighbors on both ends: two cores per 500 switches, a twentieth
// of the rest as distribution switches on both cores of a pair, and all others on one distribution switch.

import { openWritable, type Sql } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { placeHosts } from "../../src/resources/map-positions/placing.ts";
import { BuildWriter } from "./build-writer.ts";
import { NO_NEIGHBOR } from "./stations.ts";
import type { BuiltStore } from "./store.ts";

const SWITCHES_PER_CORE_PAIR = 500;
const DISTRIBUTION_ONE_IN = 20;
/** Transactions after the cabling, each of which changes some ports. */
export const CABLED_CHANGES = 200;

/** Indexes of a switch and one of its ports. */
type End = readonly [host: number, port: number];

/** Plans the cables of this many switches; all but the core switches have their uplinks on their last ports. */
function planCables(switches: number, ports: number): Array<readonly [End, End]> {
  const pairs = Math.ceil(switches / SWITCHES_PER_CORE_PAIR);
  const cores = 2 * pairs;
  const distribution = cores + Math.ceil(switches / DISTRIBUTION_ONE_IN);
  const used = new Map<number, number>();
  const nextPort = (host: number): End => {
    const port = used.get(host) ?? 0;
    used.set(host, port + 1);
    return [host, port];
  };
  const cables: Array<readonly [End, End]> = [];
  for (let core = 1; core < cores; core += 1) cables.push([nextPort(0), nextPort(core)]);
  for (let host = cores; host < switches; host += 1) {
    const first = 2 * (host % pairs);
    const far = host < distribution ? [first, first + 1] : [cores + (host % (distribution - cores))];
    for (const [index, upstream] of far.entries()) cables.push([[host, ports - 1 - index], nextPort(upstream)]);
  }
  return cables;
}

/** Transactions that each unplug a port, plug in another device, or rename a switch. */
export const RECABLINGS = 1_000;

/** Cables the hosts of a network. @param network its name in the store @returns the number of cables */
export function addCables(store: BuiltStore, network: string, ports: number): number {
  const networkId = store.networkIds[network] as string;
  const db = openWritable(dataFiles(store.directory).database);
  const writer = new BuildWriter(db, COMMANDS);
  const count = writer.run<number>("cable", { networkId, ports });
  for (let round = 0; round < CABLED_CHANGES; round += 1) writer.run("change", { networkId, round });
  placeLinked(db, networkId);
  writer.close();
  return count;
}

/** Sets the map positions of linked hosts: these commands, unlike the appliance's, write links without them. */
function placeLinked(db: Sql, networkId: string): void {
  const rows = db.$client
    .query("SELECT h.network_n, h.n FROM history_records r JOIN hosts h ON h.network_n = r.n WHERE r.id = ?")
    .values(networkId) as Array<[number, number]>;
  placeHosts(
    db,
    rows[0]?.[0] as number,
    rows.map(([, n]) => n),
  );
}

/** Changes the cabling of a network `RECABLINGS` times. @param network its name; it has cables */
export function recable(store: BuiltStore, network: string): void {
  const networkId = store.networkIds[network] as string;
  const writer = new BuildWriter(openWritable(dataFiles(store.directory).database), COMMANDS);
  for (let round = 0; round < RECABLINGS; round += 1) writer.run("recable", { networkId, round });
  writer.close();
}

const COMMANDS = {
  cable: (tx: WriteTransaction, { networkId, ports }: { networkId: string; ports: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const entries = hosts.map(({ id }) =>
      tx.children(ifEntryKind, "host_n", id).sort((a, b) => a.if_index - b.if_index),
    );
    for (const entry of entries.flat()) tx.update(ifEntryKind, entry.id, NO_NEIGHBOR);
    const cables = planCables(hosts.length, ports);
    for (const [left, right] of cables) {
      const ends = [left, right].map(([host, port]) => ({
        host: hosts[host] as HostRecord,
        entry: entries[host]?.[port] as IfEntryRecord,
      })) as [{ host: HostRecord; entry: IfEntryRecord }, { host: HostRecord; entry: IfEntryRecord }];
      for (const [near, far] of [ends, [ends[1], ends[0]]] as const)
        tx.update(ifEntryKind, near.entry.id, {
          lldp_sys_name: far.host.sys_name ?? far.host.name,
          lldp_port_id: { subtype: "InterfaceName", value: far.entry.if_name ?? "" },
          lldp_port_desc: far.entry.if_descr,
          neighbor: { type: "IfEntry", id: far.entry.id },
        });
    }
    return cables.length;
  },
  /** Toggles a port of some switches, so that past states differ from the current one. */
  change: (tx: WriteTransaction, { networkId, round }: { networkId: string; round: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId).filter((_, index) => index % 100 === round % 100);
    for (const { id } of hosts) {
      const entry = tx.children(ifEntryKind, "host_n", id)[round % 7] as IfEntryRecord;
      tx.update(ifEntryKind, entry.id, { oper_status: entry.oper_status === "Up" ? "Down" : "Up" });
    }
    return hosts.length;
  },
  /** Changes one port of a switch, its uplink; every tenth time it also renames the switch. */
  recable: (tx: WriteTransaction, { networkId, round }: { networkId: string; round: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const host = hosts[(round * 7_919) % hosts.length] as HostRecord;
    if (round % 10 === 9) tx.update(hostKind, host.id, { name: `renamed-${round}` });
    else {
      const entries = tx.children(ifEntryKind, "host_n", host.id).sort((a, b) => b.if_index - a.if_index);
      const cleared = { lldp_port_id: undefined, lldp_port_desc: undefined, neighbor: undefined };
      // A free port gets another device.
      const name = round % 10 === 8 || round >= hosts.length ? `phone-${round}` : undefined;
      tx.update(ifEntryKind, (entries[0] as IfEntryRecord).id, { ...cleared, lldp_sys_name: name });
    }
    return 1;
  },
};
