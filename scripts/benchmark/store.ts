// Stores for the benchmark, built through the real writer with real ledger, spans, census and hashes.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generateApiKey, hashApiKey, maskApiKey } from "../../src/access/api-key.ts";
import { apiKeyHashes } from "../../src/access/tables.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadOrCreateKeyFile } from "../../src/base/key-file.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openWritable } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { migrate } from "../../src/db/files/migrate.ts";
import { withChecksum } from "../../src/db/row-checksum.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { hostKind, UNSAID_HOST } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { removeRecord } from "../../src/resources/ignored/removal.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { type OrganizationMade, setUpOrganization } from "../../src/resources/organizations/commands.ts";
import { MANUAL } from "../../src/resources/source.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { fullInterface } from "./interface-item.ts";

export interface Population {
  /** Name of the network. */
  readonly network: string;
  readonly hosts: number;
  readonly entriesPerHost: number;
  /** Versions per entry, including the first. */
  readonly versions: number;
  /** Share of entries deleted in the end, oldest first. */
  readonly diedShare?: number;
  /** With distinct addresses, serial numbers and VLANs, and some interfaces down. */
  readonly isVaried?: true;
}

export interface BuiltStore {
  readonly directory: string;
  readonly key: string;
  readonly networkIds: Record<string, string>;
  /** Some hosts of each network, spread over it. */
  readonly hostIds: Record<string, string[]>;
  readonly organizationId: string;
  readonly subnetId: string;
}

const AUTHOR: Author = { type: "System", id: null, name: "benchmark", organizationId: null, requestId: null };

/** Version of the build code: a store of another version is rebuilt. */
const BUILD = 5;

/** Builds a store, or reuses a finished one. Reports progress to `report`. */
export async function buildStore(
  directory: string,
  populations: readonly Population[],
  report: (line: string) => void,
): Promise<BuiltStore> {
  const description = join(directory, "benchmark.json");
  if (existsSync(description)) {
    const known = (await Bun.file(description).json()) as {
      build?: number;
      populations: readonly Population[];
      store: BuiltStore;
    };
    // The folder may have been moved.
    if (known.build === BUILD && Bun.deepEquals(known.populations, populations)) return { ...known.store, directory };
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = dataFiles(directory);
  loadOrCreateKeyFile(files.key, systemRandom);
  const db = openWritable(files.database);
  migrate(db, files.database);
  // Only during the build: measurements use the product's own settings.
  db.$client.run("PRAGMA synchronous = OFF");
  db.$client.run("PRAGMA cache_size = -400000");
  const writer = new Writer({ db, kinds: KINDS, commands: COMMANDS, clock: systemClock, random: systemRandom });
  const run = <T>(command: string, input: unknown): T =>
    outcomeOf<T>(writer.execute([{ command, input, actor: AUTHOR }])[0] as WriteReply).result;
  const { organizationId, userId } = run<OrganizationMade>("set_up", {
    organizationName: "Benchmark",
    networkName: "unused",
    email: "bench@example.net",
    passwordHash: "unused",
    onlyFirst: true,
  });
  const key = generateApiKey(systemRandom);
  run("key", { organizationId, userId, hash: hashApiKey(key), mask: maskApiKey(key) });
  const places = populations.map((population) => ({
    population,
    made: run<PlaceMade>("network", {
      organizationId,
      name: population.network,
      vlans: population.isVaried === true ? VLANS : 0,
    }),
    hostIds: [] as string[],
  }));
  const started = performance.now();
  // In rounds, so that the populations are interleaved: a timestamp has the same meaning for all.
  const rounds = Math.max(...populations.map((population) => population.versions));
  for (let round = 0; round < rounds; round += 1) {
    for (const { population, made, hostIds } of places) {
      for (let version = 0; version < population.versions; version += 1) {
        if (Math.floor((version * rounds) / population.versions) !== round) continue;
        for (let start = 0; start < population.hosts; start += GROUP) {
          const requests = [];
          for (let host = start; host < Math.min(start + GROUP, population.hosts); host += 1) {
            const input = {
              organizationId,
              networkId: made.networkId,
              host,
              version,
              entries: population.entriesPerHost,
              hostId: hostIds[host],
              varied: population.isVaried === true ? made : null,
            };
            requests.push({ command: version === 0 ? "host" : "version", input, actor: AUTHOR });
          }
          const results = writer.execute(requests).map((reply) => outcomeOf<string>(reply).result);
          if (version === 0) hostIds.push(...results);
        }
      }
    }
    if (round % 10 === 0 || rounds < 20)
      report(`  round ${round + 1} of ${rounds}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  for (const { population, hostIds } of places) {
    const died = hostIds.slice(0, Math.floor(hostIds.length * (population.diedShare ?? 0)));
    for (let start = 0; start < died.length; start += GROUP) {
      for (const reply of writer.execute(
        died.slice(start, start + GROUP).map((hostId) => ({ command: "remove", input: { hostId }, actor: AUTHOR })),
      ))
        outcomeOf(reply);
    }
    if (died.length > 0)
      report(`  ${died.length} hosts deleted, ${((performance.now() - started) / 1000).toFixed(0)} s`);
    hostIds.splice(0, died.length);
  }
  const networkIds: Record<string, string> = {};
  const someHostIds: Record<string, string[]> = {};
  for (const { population, made, hostIds } of places) {
    networkIds[population.network] = made.networkId;
    someHostIds[population.network] = hostIds.filter(
      (_, position) => position % Math.max(1, Math.floor(hostIds.length / 200)) === 0,
    );
  }
  const subnetId = places.at(-1)?.made.subnetId ?? "";
  writer.close();
  const store = { directory, key, networkIds, hostIds: someHostIds, organizationId, subnetId };
  await Bun.write(description, JSON.stringify({ build: BUILD, populations, store }));
  return store;
}

interface PlaceMade {
  readonly networkId: string;
  readonly subnetId: string;
  readonly vlanIds: readonly string[];
}

const VLANS = 40;
/** One in this many interfaces of a varied population is down, a different one in each version. */
const DOWN_ONE_IN = 20;

function isDown(host: number, index: number, version: number): boolean {
  return (host * 7 + index * 13 + version * 3) % DOWN_ONE_IN === 0;
}

/** Ledger transactions per commit during the build. */
const GROUP = 50;

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
    tx.afterwardsRun(() => {
      tx.db
        .insert(apiKeyHashes)
        .values(
          withChecksum(apiKeyHashes, { hash: Buffer.from(input.hash), api_key_n: tx.recordN(record.id) as number }),
        )
        .run();
    });
  },
  network: (tx: WriteTransaction, input: { organizationId: string; name: string; vlans: number }) => {
    const network = tx.create(networkKind, input.organizationId, {
      organization_id: input.organizationId,
      name: input.name,
      description: null,
      tags: [],
      stale_after_hours: null,
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
    const vlanIds = Array.from(
      { length: input.vlans },
      (_, place) =>
        tx.create(vlanKind, input.organizationId, {
          network_id: network.id,
          number: 100 + place,
          name: `vlan-${place}`,
          description: null,
          source: MANUAL,
        }).id,
    );
    return { networkId: network.id, subnetId: subnet.id, vlanIds };
  },
  host: (
    tx: WriteTransaction,
    input: { organizationId: string; networkId: string; host: number; entries: number; varied: PlaceMade | null },
  ) => {
    const { varied } = input;
    const host = tx.create(hostKind, input.organizationId, {
      name: `switch-${input.host}`,
      network_id: input.networkId,
      source: MANUAL,
      ...UNSAID_HOST,
      hostname: `switch-${input.host}.example.net`,
      sys_name: `switch-${input.host}`,
      ...(varied === null ? {} : { serial_number: `FOC${String(input.host).padStart(6, "0")}X` }),
    });
    const observed = { last_seen_at: host.created_at, last_discovery_id: host.id };
    if (varied !== null)
      tx.create(
        ipAddressKind,
        input.organizationId,
        {
          host_id: host.id,
          network_id: input.networkId,
          subnet_id: varied.subnetId,
          ip_address: `10.${input.host >> 16}.${(input.host >> 8) & 255}.${input.host & 255}`,
          mac_address: null,
          name: "",
          position: 0,
          first_discovery_id: null,
        },
        { observed },
      );
    for (let index = 1; index <= input.entries; index += 1) {
      const entry = fullEntry(host.id, input.networkId, input.host, index);
      const own = {
        oper_status: isDown(input.host, index, 0) ? ("Down" as const) : ("Up" as const),
        speed_bps: 10 ** (8 + (index % 3)),
        native_vlan_id: varied?.vlanIds[(input.host + index) % VLANS],
      };
      tx.create(ifEntryKind, input.organizationId, varied === null ? entry : { ...entry, ...own }, { observed });
    }
    return host.id;
  },
  remove: (tx: WriteTransaction, input: { hostId: string }) => {
    removeRecord(tx, hostKind, input.hostId, true);
    return input.hostId;
  },
  version: (
    tx: WriteTransaction,
    input: { hostId: string; host: number; version: number; varied: PlaceMade | null },
  ) => {
    for (const entry of tx.children(ifEntryKind, "host_n", input.hostId)) {
      const isUp = input.varied === null ? input.version % 2 === 0 : !isDown(input.host, entry.if_index, input.version);
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
  return {
    ...entry,
    host_id: hostId,
    network_id: networkId,
    if_alias: `${entry.if_alias}, change 0`,
    first_discovery_id: hostId,
  };
}
