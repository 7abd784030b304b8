// Network with very many subnets in a built store, each with addresses in use and a range: data for utilization
// queries.

import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { type HostRecord, hostKind, UNSAID_HOST } from "../../src/resources/hosts/host.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../src/resources/ip-ranges/ip-range.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { MANUAL } from "../../src/resources/source.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import type { BuiltStore } from "./store.ts";

/** One /8 with `sites` of /16, each with `rooms` of /24, each with this many addresses in use. */
export interface Subnets {
  readonly sites: number;
  readonly rooms: number;
  readonly addresses: number;
}

const AUTHOR: Author = { type: "System", id: null, name: "benchmark", organizationId: null, requestId: null };

export interface AddedSubnets {
  /** Of their network. */
  readonly networkId: string;
  /** Time from which all of it exists, in milliseconds. */
  readonly whole: number;
}

/** Number of later transactions, each with ten renamed addresses, for a history. */
const CHANGES = 200;

export function addSubnets(
  { directory, organizationId }: BuiltStore,
  { sites, rooms, addresses }: Subnets,
  report: (line: string) => void,
): AddedSubnets {
  const db = openWritable(dataFiles(directory).database);
  db.$client.run("PRAGMA synchronous = OFF");
  const writer = new Writer({ db, kinds: KINDS, commands: COMMANDS, clock: systemClock, random: systemRandom });
  const run = <T>(command: string, input: unknown): T =>
    outcomeOf<T>(writer.execute([{ command, input, actor: AUTHOR }])[0] as WriteReply).result;
  const started = performance.now();
  const networkId = run<string>("network", { organizationId });
  const place = { organizationId, networkId };
  for (let site = 0; site < sites; site += 1) {
    run("subnet", { ...place, cidr: `10.${site}.0.0/16` });
    for (let room = 0; room < rooms; room += 1) run("room", { ...place, prefix: `10.${site}.${room}`, addresses });
  }
  const whole = systemClock.now();
  for (let turn = 0; turn < CHANGES; turn += 1) run("rename", { networkId, turn });
  writer.close();
  report(`  ${1 + sites + sites * rooms} subnets, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return { networkId, whole };
}

interface Place {
  readonly organizationId: string;
  readonly networkId: string;
}

const COMMANDS = {
  network: (tx: WriteTransaction, { organizationId }: { organizationId: string }) => {
    const { id } = tx.create(networkKind, organizationId, {
      organization_id: organizationId,
      name: "branches",
      description: null,
      tags: [],
      stale_after_hours: null,
    });
    subnetOf(tx, { organizationId, networkId: id }, "10.0.0.0/8");
    return id;
  },
  subnet: (tx: WriteTransaction, { cidr, ...place }: Place & { cidr: string }) => subnetOf(tx, place, cidr),
  /** A /24, a host with all its used addresses, and a range after them. */
  room: (tx: WriteTransaction, { prefix, addresses, ...place }: Place & { prefix: string; addresses: number }) => {
    const { organizationId, networkId: network_id } = place;
    const subnet_id = subnetOf(tx, place, `${prefix}.0/24`);
    const host = tx.create(hostKind, organizationId, {
      source: MANUAL,
      ...UNSAID_HOST,
      name: `room-${prefix}`,
      network_id,
    });
    for (let last = 1; last <= addresses; last += 1)
      tx.create(ipAddressKind, organizationId, {
        host_id: host.id,
        network_id,
        subnet_id,
        ip_address: `${prefix}.${last}`,
        mac_address: null,
        name: "",
        position: last - 1,
        first_discovery_id: null,
      });
    tx.create(ipRangeKind, organizationId, {
      network_id,
      subnet_id,
      first: `${prefix}.200`,
      last: `${prefix}.249`,
      purpose: "Dhcp",
      description: null,
      tags: [],
    });
  },
  rename: (tx: WriteTransaction, { networkId, turn }: { networkId: string; turn: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const host = hosts[(turn * 37) % hosts.length] as HostRecord;
    for (const { id } of tx.children(ipAddressKind, "host_n", host.id).slice(0, 10))
      tx.update(ipAddressKind, id, { name: `turn-${turn}` });
    return null;
  },
};

function subnetOf(tx: WriteTransaction, { organizationId, networkId }: Place, cidr: string): string {
  return tx.create(subnetKind, organizationId, {
    network_id: networkId,
    cidr,
    name: cidr,
    description: null,
    subnet_type: "Lan",
    vlan_id: null,
    source: MANUAL,
    tags: [],
    accepts_credentials: false,
  }).id;
}
