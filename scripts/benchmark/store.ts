// Benchmark stores, built by the real writer with a real ledger, spans, census and hashes.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey, hashApiKey, maskApiKey } from "../../src/access/api-key.ts";
import { apiKeyHashes } from "../../src/access/tables.ts";
import { loadOrCreateKeyFile } from "../../src/base/key-file.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { migrate } from "../../src/db/files/migrate.ts";
import { withChecksum } from "../../src/db/row-checksum.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { HOST_DEFAULTS, hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { EXPIRY_DEFAULTS, networkKind } from "../../src/resources/networks/network.ts";
import { type CreatedOrganization, setUpOrganization } from "../../src/resources/organizations/commands.ts";
import { MANUAL } from "../../src/resources/source.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { BuildWriter } from "./build-writer.ts";
import { fullInterface } from "./interface-item.ts";
import { printLine } from "./program.ts";

export interface Population {
  /** Name of the network. */
  readonly network: string;
  readonly hosts: number;
  readonly entriesPerHost: number;
  /** Versions per entry, including the first. */
  readonly versions: number;
  /** Share of the hosts that are deleted at the end of the build, oldest first. */
  readonly deletedShare?: number;
  /** Whether hosts have distinct addresses, serial numbers and VLANs, and some interfaces are down. */
  readonly isVaried?: true;
}

export interface BuiltStore {
  readonly directory: string;
  readonly key: string;
  readonly networkIds: Record<string, string>;
  /** Evenly spread sample of the hosts of each network. */
  readonly hostIds: Record<string, string[]>;
  readonly organizationId: string;
  readonly subnetId: string;
}

/** Builds a store with one network, `campus`. */
export function campusStore(
  directory: string,
  population: Omit<Population, "network" | "versions"> & { readonly versions?: number },
  report: (line: string) => void = printLine,
): Promise<BuiltStore> {
  return buildStore(directory, [{ network: "campus", versions: 1, ...population }], report);
}

/** Version of the build code: a store of another version is rebuilt. */
const BUILD_VERSION = 6;

/** Builds a store, or reuses a finished one. Reports progress to `report`. */
export async function buildStore(
  directory: string,
  populations: readonly Population[],
  report: (line: string) => void,
): Promise<BuiltStore> {
  const description = join(directory, "benchmark.json");
  if (existsSync(description)) {
    const previous = (await Bun.file(description).json()) as {
      build?: number;
      populations: readonly Population[];
      store: BuiltStore;
    };
    // The directory may have been moved.
    if (previous.build === BUILD_VERSION && Bun.deepEquals(previous.populations, populations))
      return { ...previous.store, directory };
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = dataFiles(directory);
  loadOrCreateKeyFile(files.key, systemRandom);
  const db = openWritable(files.database);
  migrate(db, files.database);
  const writer = new BuildWriter(db, COMMANDS);
  const { organizationId, userId } = writer.run<CreatedOrganization>("set_up", {
    organizationName: "Benchmark",
    networkName: "unused",
    email: "bench@example.net",
    passwordHash: "unused",
    onlyFirst: true,
  });
  const key = generateApiKey(systemRandom);
  writer.run("key", { organizationId, userId, hash: hashApiKey(key), mask: maskApiKey(key) });
  const networks = populations.map((population) => {
    const input = { organizationId, name: population.network, vlans: population.isVaried === true ? VLANS : 0 };
    return { population, created: writer.run<CreatedNetwork>("network", input), hostIds: [] as string[] };
  });
  const started = performance.now();
  // Rounds interleave the populations: at any timestamp, all are equally far in their history.
  const rounds = Math.max(...populations.map((population) => population.versions));
  for (let round = 0; round < rounds; round += 1) {
    for (const { population, created, hostIds } of networks) {
      for (let version = 0; version < population.versions; version += 1) {
        if (Math.floor((version * rounds) / population.versions) !== round) continue;
        for (let start = 0; start < population.hosts; start += GROUP_SIZE) {
          const { entriesPerHost: entries, isVaried } = population;
          const common = { organizationId, networkId: created.networkId, version, entries };
          const inputs = [];
          for (let host = start; host < Math.min(start + GROUP_SIZE, population.hosts); host += 1)
            inputs.push({ ...common, host, hostId: hostIds[host], variedNetwork: isVaried === true ? created : null });
          const results = writer.runAll<string>(version === 0 ? "host" : "version", inputs);
          if (version === 0) hostIds.push(...results);
        }
      }
    }
    if (round % 10 === 0 || rounds < 20)
      report(`  round ${round + 1} of ${rounds}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  for (const { population, hostIds } of networks) {
    const deleted = hostIds.slice(0, Math.floor(hostIds.length * (population.deletedShare ?? 0)));
    for (let start = 0; start < deleted.length; start += GROUP_SIZE) {
      const group = deleted.slice(start, start + GROUP_SIZE);
      writer.runAll(
        "remove",
        group.map((hostId) => ({ hostId })),
      );
    }
    if (deleted.length > 0)
      report(`  ${deleted.length} hosts deleted, ${((performance.now() - started) / 1000).toFixed(0)} s`);
    hostIds.splice(0, deleted.length);
  }
  const networkIds: Record<string, string> = {};
  const sampledHostIds: Record<string, string[]> = {};
  for (const { population, created, hostIds } of networks) {
    networkIds[population.network] = created.networkId;
    const step = Math.max(1, Math.floor(hostIds.length / 200));
    sampledHostIds[population.network] = hostIds.filter((_, position) => position % step === 0);
  }
  const subnetId = networks.at(-1)?.created.subnetId ?? "";
  writer.close();
  const store = { directory, key, networkIds, hostIds: sampledHostIds, organizationId, subnetId };
  await Bun.write(description, JSON.stringify({ build: BUILD_VERSION, populations, store }));
  return store;
}

interface CreatedNetwork {
  readonly networkId: string;
  readonly subnetId: string;
  readonly vlanIds: readonly string[];
}

const VLANS = 40;
/** One in this many interfaces of a varied population is down; different ones in each version. */
const DOWN_INTERVAL = 20;

function isDown(host: number, index: number, version: number): boolean {
  return (host * 7 + index * 13 + version * 3) % DOWN_INTERVAL === 0;
}

/** Ledger transactions per commit during the build. */
const GROUP_SIZE = 50;

const COMMANDS = {
  set_up: setUpOrganization,
  key: (tx: WriteTransaction, input: { organizationId: string; userId: string; hash: Uint8Array; mask: string }) => {
    const record = tx.create(apiKeyKind, input.organizationId, {
      name: "benchmark",
      organization_id: input.organizationId,
      user_id: input.userId,
      tags: [],
      expires_at: null,
      is_enabled: true,
      permissions: "Owner",
      all_networks: true,
      network_ids: [],
      allowed_sources: null,
      key: input.mask,
    });
    tx.runAfterWrite(() => {
      const row = { hash: Buffer.from(input.hash), api_key_n: tx.recordN(record.id) as number };
      tx.db.insert(apiKeyHashes).values(withChecksum(apiKeyHashes, row)).run();
    });
  },
  network: (tx: WriteTransaction, input: { organizationId: string; name: string; vlans: number }) => {
    const network = tx.create(networkKind, input.organizationId, {
      organization_id: input.organizationId,
      name: input.name,
      description: null,
      tags: [],
      stale_after_hours: null,
      ...EXPIRY_DEFAULTS,
    });
    const subnet = tx.create(subnetKind, input.organizationId, {
      network_id: network.id,
      cidr: "10.0.0.0/8",
      name: "all",
      description: null,
      subnet_type: "Lan",
      vlan_id: null,
      source: MANUAL,
      tags: [],
      accepts_credentials: true,
    });
    const vlanIds = Array.from({ length: input.vlans }, (_, index) => {
      const vlan = { network_id: network.id, number: 100 + index, name: `vlan-${index}`, description: null };
      return tx.create(vlanKind, input.organizationId, { ...vlan, source: MANUAL }).id;
    });
    return { networkId: network.id, subnetId: subnet.id, vlanIds };
  },
  host: (
    tx: WriteTransaction,
    input: {
      organizationId: string;
      networkId: string;
      host: number;
      entries: number;
      variedNetwork: CreatedNetwork | null;
    },
  ) => {
    const { variedNetwork } = input;
    const host = tx.create(hostKind, input.organizationId, {
      name: `switch-${input.host}`,
      network_id: input.networkId,
      source: MANUAL,
      ...HOST_DEFAULTS,
      hostname: `switch-${input.host}.example.net`,
      sys_name: `switch-${input.host}`,
      ...(variedNetwork === null ? {} : { serial_number: `FOC${String(input.host).padStart(6, "0")}X` }),
    });
    const observed = { last_seen_at: host.created_at, last_discovery_id: host.id };
    if (variedNetwork !== null) {
      const address = {
        host_id: host.id,
        network_id: input.networkId,
        subnet_id: variedNetwork.subnetId,
        ip_address: `10.${input.host >> 16}.${(input.host >> 8) & 255}.${input.host & 255}`,
        mac_address: null,
        name: "",
        position: 0,
        first_discovery_id: null,
      };
      tx.create(ipAddressKind, input.organizationId, address, { observed });
    }
    for (let index = 1; index <= input.entries; index += 1) {
      const entry = fullEntry(host.id, input.networkId, input.host, index);
      const varying = {
        oper_status: isDown(input.host, index, 0) ? ("Down" as const) : ("Up" as const),
        speed_bps: 10 ** (8 + (index % 3)),
        native_vlan_id: variedNetwork?.vlanIds[(input.host + index) % VLANS],
      };
      tx.create(ifEntryKind, input.organizationId, variedNetwork === null ? entry : { ...entry, ...varying }, {
        observed,
      });
    }
    return host.id;
  },
  remove: (tx: WriteTransaction, input: { hostId: string }) => {
    removeRecord(tx, hostKind, input.hostId, true);
    return input.hostId;
  },
  version: (
    tx: WriteTransaction,
    input: { hostId: string; host: number; version: number; variedNetwork: CreatedNetwork | null },
  ) => {
    for (const entry of tx.children(ifEntryKind, "host_n", input.hostId)) {
      const isUp =
        input.variedNetwork === null ? input.version % 2 === 0 : !isDown(input.host, entry.if_index, input.version);
      tx.update(ifEntryKind, entry.id, {
        oper_status: isUp ? "Up" : "Down",
        if_alias: `uplink of rack ${entry.if_index}, change ${input.version}`,
      });
    }
    return input.hostId;
  },
};

/** An entry as written by a scan. */
function fullEntry(hostId: string, networkId: string, host: number, index: number) {
  const entry = fullInterface(host, index);
  const if_alias = `${entry.if_alias}, change 0`;
  return { ...entry, host_id: hostId, network_id: networkId, if_alias, first_discovery_id: hostId };
}
