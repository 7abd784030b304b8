// Cables between the switches of a built store, as LLDP neighbors on both ends: two cores per 500 switches, a twentieth
// of the rest connected to both cores of a pair, and all others to one of those.

import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { placeHosts } from "../../src/resources/map-positions/placing.ts";
import type { BuiltStore } from "./store.ts";

const AUTHOR: Author = { type: "System", id: null, name: "benchmark", organizationId: null, requestId: null };
const CORE_PAIR_FOR = 500;
const DISTRIBUTION_ONE_IN = 20;
/** Number of transactions after the cabling, each with changes of some ports. */
export const CABLED_CHANGES = 200;

/** A port of a switch, as indexes of both. */
type End = readonly [host: number, port: number];

/** Cables of this many switches; a later switch has its uplinks on its last ports. */
function cablesOf(switches: number, ports: number): Array<readonly [End, End]> {
  const pairs = Math.ceil(switches / CORE_PAIR_FOR);
  const cores = 2 * pairs;
  const distribution = cores + Math.ceil(switches / DISTRIBUTION_ONE_IN);
  const used = new Map<number, number>();
  const down = (host: number): End => {
    const port = used.get(host) ?? 0;
    used.set(host, port + 1);
    return [host, port];
  };
  const cables: Array<readonly [End, End]> = [];
  for (let core = 1; core < cores; core += 1) cables.push([down(0), down(core)]);
  for (let host = cores; host < switches; host += 1) {
    const first = 2 * (host % pairs);
    const far = host < distribution ? [first, first + 1] : [cores + (host % (distribution - cores))];
    for (const [place, each] of far.entries()) cables.push([[host, ports - 1 - place], down(each)]);
  }
  return cables;
}

/** Number of transactions that each unplug a port, plug in another device, or rename a switch. */
export const RECABLINGS = 1_000;

/** @param network of the hosts @returns number of cables */
export function addCables(store: BuiltStore, network: string, ports: number): number {
  return writing(store, (run, db) => {
    const networkId = store.networkIds[network] as string;
    const count = run("cable", { networkId, ports });
    for (let turn = 0; turn < CABLED_CHANGES; turn += 1) run("change", { networkId, turn });
    placeLinked(db, networkId);
    return count;
  });
}

/** These commands write links without positions, unlike the appliance's. */
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

/** Changes the cabling this often. @param network with cables */
export function recable(store: BuiltStore, network: string): void {
  const networkId = store.networkIds[network] as string;
  writing(store, (run) => {
    for (let turn = 0; turn < RECABLINGS; turn += 1) run("recable", { networkId, turn });
  });
}

function writing<T>(store: BuiltStore, work: (run: (command: string, input: unknown) => number, db: Sql) => T): T {
  const db = openWritable(dataFiles(store.directory).database);
  db.$client.run("PRAGMA synchronous = OFF");
  const writer = new Writer({ db, kinds: KINDS, commands: COMMANDS, clock: systemClock, random: systemRandom });
  const run = (command: string, input: unknown): number =>
    outcomeOf<number>(writer.execute([{ command, input, actor: AUTHOR }])[0] as WriteReply).result;
  const result = work(run, db);
  writer.close();
  return result;
}

const COMMANDS = {
  cable: (tx: WriteTransaction, { networkId, ports }: { networkId: string; ports: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const entries = hosts.map(({ id }) =>
      tx.children(ifEntryKind, "host_n", id).sort((a, b) => a.if_index - b.if_index),
    );
    for (const entry of entries.flat())
      tx.update(ifEntryKind, entry.id, {
        lldp_chassis_id: undefined,
        lldp_port_id: undefined,
        lldp_sys_name: undefined,
        lldp_port_desc: undefined,
      });
    const cables = cablesOf(hosts.length, ports);
    for (const [one, other] of cables) {
      const ends = [one, other].map(([host, port]) => ({
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
  /** A port of some switches goes up or down, so that the past differs from the latest query. */
  change: (tx: WriteTransaction, { networkId, turn }: { networkId: string; turn: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId).filter((_, place) => place % 100 === turn % 100);
    for (const { id } of hosts) {
      const entry = tx.children(ifEntryKind, "host_n", id)[turn % 7] as IfEntryRecord;
      tx.update(ifEntryKind, entry.id, { oper_status: entry.oper_status === "Up" ? "Down" : "Up" });
    }
    return hosts.length;
  },
  /** Changes one port of a switch, its uplink; every tenth time it also renames the switch. */
  recable: (tx: WriteTransaction, { networkId, turn }: { networkId: string; turn: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const host = hosts[(turn * 7_919) % hosts.length] as HostRecord;
    if (turn % 10 === 9) tx.update(hostKind, host.id, { name: `renamed-${turn}` });
    else {
      const entries = tx.children(ifEntryKind, "host_n", host.id).sort((a, b) => b.if_index - a.if_index);
      const nothing = { lldp_port_id: undefined, lldp_port_desc: undefined, neighbor: undefined };
      // A free port gets another device.
      const name = turn % 10 === 8 || turn >= hosts.length ? `phone-${turn}` : undefined;
      tx.update(ifEntryKind, (entries[0] as IfEntryRecord).id, { ...nothing, lldp_sys_name: name });
    }
    return 1;
  },
};
