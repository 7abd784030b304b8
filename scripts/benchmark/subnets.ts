// Benchmark network with many subnets, each with used addresses and an address range: test data for utilization queries.

import { systemClock } from "../../src/base/clock.ts";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { HOST_DEFAULTS, type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../src/resources/ip-ranges/ip-range.ts";
import { EXPIRY_DEFAULTS, networkKind } from "../../src/resources/networks/network.ts";
import { MANUAL } from "../../src/resources/source.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { BuildWriter } from "./build-writer.ts";
import type { BuiltStore } from "./store.ts";

/** Sizes of a /8 with `sites` /16 subnets, each with `rooms` /24 subnets, each with `addresses` addresses in use. */
export interface Subnets {
  readonly sites: number;
  readonly rooms: number;
  readonly addresses: number;
}

export interface AddedSubnets {
  /** Network that contains the subnets. */
  readonly networkId: string;
  /** Timestamp after the last subnet was created, in milliseconds. */
  readonly completeAt: number;
}

/** Later transactions, each of which renames ten addresses. */
const CHANGES = 200;

export function addSubnets(
  { directory, organizationId }: BuiltStore,
  { sites, rooms, addresses }: Subnets,
  report: (line: string) => void,
): AddedSubnets {
  const writer = new BuildWriter(openWritable(dataFiles(directory).database), COMMANDS);
  const started = performance.now();
  const networkId = writer.run<string>("network", { organizationId });
  const scope = { organizationId, networkId };
  for (let site = 0; site < sites; site += 1) {
    writer.run("subnet", { ...scope, cidr: `10.${site}.0.0/16` });
    for (let room = 0; room < rooms; room += 1)
      writer.run("room", { ...scope, prefix: `10.${site}.${room}`, addresses });
  }
  const completeAt = systemClock.now();
  for (let round = 0; round < CHANGES; round += 1) writer.run("rename", { networkId, round });
  writer.close();
  report(`  ${1 + sites + sites * rooms} subnets, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return { networkId, completeAt };
}

interface Scope {
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
      ...EXPIRY_DEFAULTS,
    });
    createSubnet(tx, { organizationId, networkId: id }, "10.0.0.0/8");
    return id;
  },
  subnet: (tx: WriteTransaction, { cidr, ...scope }: Scope & { cidr: string }) => createSubnet(tx, scope, cidr),
  /** Creates a /24, a host with all addresses in use, and a range after them. */
  room: (tx: WriteTransaction, { prefix, addresses, ...scope }: Scope & { prefix: string; addresses: number }) => {
    const { organizationId, networkId: network_id } = scope;
    const subnet_id = createSubnet(tx, scope, `${prefix}.0/24`);
    const host = tx.create(hostKind, organizationId, {
      source: MANUAL,
      ...HOST_DEFAULTS,
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
  rename: (tx: WriteTransaction, { networkId, round }: { networkId: string; round: number }) => {
    const hosts = tx.children(hostKind, "network_n", networkId);
    const host = hosts[(round * 37) % hosts.length] as HostRecord;
    for (const { id } of tx.children(ipAddressKind, "host_n", host.id).slice(0, 10))
      tx.update(ipAddressKind, id, { name: `round-${round}` });
    return null;
  },
};

function createSubnet(tx: WriteTransaction, { organizationId, networkId }: Scope, cidr: string): string {
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
