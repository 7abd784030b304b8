// Query latency benchmark on the compiled executable, live and at a random timestamp, among 1,000,000 interface entries
// × 5 versions: searches, filters by index, by full scan (with side effects) and over time, activity, subnets,
// faceplates. Usage: scripts/bench --questions [--hosts 20000] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { addCables, CABLED_CHANGES, RECABLINGS, recable } from "./cables.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { measureHighlights, measureLargeTransaction, measureQuery } from "./highlights.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { readDuringScans } from "./reads-during-scans.ts";
import { timedGet } from "./requests.ts";
import { addStations } from "./stations.ts";
import { type BuiltStore, buildStore, campusStore } from "./store.ts";
import { type AddedSubnets, addSubnets } from "./subnets.ts";

const { hosts, directory, executable } = settings({ hosts: 20_000, directory: "", executable: EXECUTABLE });
const ENTRIES = 50;
const NAME_WIDTH = 74;
/** Switches in the network of the topology queries. */
const SWITCHES = 500;
/** Every switch knows all stations: a tenth of them at its edge ports, the others behind its uplink. */
const STATIONS = { switches: 10, stations: 2_000, moves: 1 };
/** A thousand subnets in which one address in five is in use. */
const SUBNETS = { sites: 9, rooms: 110, addresses: 50 };

printLine(`Building: ${hosts} hosts × ${ENTRIES} interface entries × 5 versions`);
const base = folder(directory);
const varied = { entriesPerHost: ENTRIES, versions: 5, isVaried: true } as const;
const store = await campusStore(join(base, "questions"), { hosts, ...varied });
if (!existsSync(join(store.directory, "stations.json"))) {
  addStations(store, { ...STATIONS, switches: Math.min(hosts, STATIONS.switches) }, printLine);
  await Bun.write(join(store.directory, "stations.json"), JSON.stringify(STATIONS));
}
const instants = instantsOf(store);
/** Timestamps when all interfaces exist: each host was created in a separate transaction. */
const complete = instants.slice(hosts + 10);
const running = await startExecutable(executable, store.directory);
try {
  await measureSearch(running);
  await measureFilters(running);
  await measureActivity(running);
  await measureHighlights({ server: running, store, nameWidth: NAME_WIDTH }, instants.length);
  await measureSubnets(running);
  await measureFaceplates(running);
} finally {
  await running.stop();
}
await measureLargeTransaction(join(base, "large"), executable, NAME_WIDTH);
await measureBranches();
await measureTopology();

interface Query {
  readonly name: string;
  readonly path: (round: number) => string;
  readonly rounds: number;
}

/** Measures searches of all kinds for 20 results: rare names, and a name shared by a million records. */
async function measureSearch(server: Running): Promise<void> {
  const pickHost = (round: number) => (round * 7_919) % hosts;
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  const query = (name: string, q: (round: number) => string, rounds = 200): Query => ({
    name,
    rounds,
    path: (round) => `/api/v1/search?${new URLSearchParams({ q: q(round) })}`,
  });
  printHead("search everywhere, 20 results");
  for (const search of [
    query("a host", (round) => `switch-${pickHost(round)}`),
    query("a serial number", (round) => `FOC${String(pickHost(round)).padStart(6, "0")}X`),
    query("an interface of a host", (round) => `switch-${pickHost(round)} gi1/0/${1 + (round % ENTRIES)}`),
    query("an address", (round) => addressOf(pickHost(round))),
    query("a MAC address", (round) => `001b.${hex(pickHost(round) >> 8, 4)}.${hex(pickHost(round) & 255, 2)}07`),
    query("four digits in a MAC address", (round) => hex((round * 104_729) % 65_536, 4)),
    query("a VLAN", (round) => `vlan ${100 + (round % 40)}`),
    query("an interface of every host: gi1/0/7", (round) => `gi1/0/${1 + (round % ENTRIES)}`),
    query("all interfaces: gi1", () => "gi1"),
    query("all interfaces: 1", () => "1"),
    query("words of all aliases: uplink rack", () => "uplink rack"),
    query("words of some aliases: rack 7, change", (round) => `rack ${1 + (round % ENTRIES)}, change`),
    query("former names of all interfaces: change 0", () => "change 0"),
    query("all hosts and all interfaces: switch gi1", () => "switch gi1"),
    query("the manufacturer of all MAC addresses: 001b", () => "00:1b"),
    query("no match", (round) => `nothing-${round}`),
  ])
    await measureLiveAndPast(server, search);
}

function addressOf(host: number): string {
  return `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`;
}

async function measureFilters(server: Running): Promise<void> {
  const pickHost = (round: number) => (round * 7_919) % hosts;
  const list = (path: string, filter: (round: number) => string, name: string, rounds: number): Query => ({
    name,
    rounds,
    path: (round) => `/api/v1/${path}?${new URLSearchParams({ filter: filter(round) })}`,
  });
  const mac = (host: number) =>
    [0, 0x1b, host >> 16, host >> 8, host, 7].map((byte) => (byte & 255).toString(16).padStart(2, "0")).join(":");
  const serial = (round: number) => `FOC${String(pickHost(round)).padStart(6, "0")}X`;
  const prefix = (round: number) => `10.0.${pickHost(round) >> 8}.0/24`;
  const nested = "ip_addresses.ip_address";
  const recent = instants.at(-Math.ceil(instants.length / 100)) as string;
  printHead("by an index");
  for (const query of [
    list("if-entries", (round) => `host.name = switch-${pickHost(round)}`, "interfaces: host.name =", 100),
    list("hosts", (round) => `name = switch-${pickHost(round)}`, "hosts: name =", 100),
    list("hosts", (round) => `serial_number = ${serial(round)}`, "hosts: serial_number =", 100),
    list("if-entries", (round) => `mac_address = ${mac(pickHost(round))}`, "interfaces: mac_address =", 100),
    list("ip-addresses", (round) => `ip_address = ${addressOf(pickHost(round))}`, "addresses: ip_address =", 100),
    list("ip-addresses", (round) => `ip_address : "${prefix(round)}"`, "addresses: ip_address : /24", 100),
    list("hosts", (round) => `${nested} = ${addressOf(pickHost(round))}`, "hosts: ip_addresses.ip_address =", 100),
    list("if-entries", () => "neighbor.name = switch-0", "interfaces: neighbor.name =", 40),
    list("if-entries", (round) => `vlan.number = ${100 + (round % 40)}`, "interfaces: vlan.number = (1 in 40)", 40),
    list("if-entries", () => "oper_status = Down", "interfaces: oper_status = Down (1 in 20)", 40),
    list("if-entries", () => 'network.name = "campus" AND oper_status = Down', "the same within a network", 40),
  ])
    await measureLiveAndPast(server, query);
  printHead("full scan");
  const slow = "NOT if_name = Gi1/0/1 AND speed_bps < 1G";
  const scans = [
    list("if-entries", () => "speed_bps >= 10G", "interfaces: speed_bps >= 10G", 5),
    list("if-entries", () => 'if_alias : "rack 7,"', "interfaces: if_alias : part", 5),
    list("if-entries", () => slow, "interfaces: NOT if_name = AND speed_bps <", 5),
    list("if-entries", () => "host.name = switch-1*", "interfaces: host.name = switch-1* (half of the hosts)", 5),
  ];
  for (const query of scans) await measureLiveAndPast(server, query, complete);
  printLine("");
  printRow("concurrent reader, and peak anonymous memory", NAME_WIDTH, ["reads", "p99 ms", "longest", "MB"], 10);
  for (const isPast of [false, true]) {
    const atQuery = (round: number) => (isPast ? `&at=${sample(complete, round)}` : "");
    const { reads, p99Ms, longestMs, peakMb } = await readDuringScans(
      server,
      store.key,
      [0, 1, 2].flatMap((round) => scans.map(({ path }) => path(round) + atQuery(round))),
      [
        `/api/v1/networks/${store.networkIds.campus}`,
        "/api/v1/if-entries?limit=50",
        list("if-entries", () => `mac_address = ${mac(pickHost(1))}`, "", 1).path(0),
        list("hosts", () => `name = switch-${pickHost(2)}`, "", 1).path(0),
      ],
    );
    const cells = [String(reads), p99Ms.toFixed(1), longestMs.toFixed(1), peakMb.toFixed(0)];
    printRow(isPast ? "at a random timestamp" : "live", NAME_WIDTH, cells, 10);
  }
  printHead("over time, with 1 in 100 transactions in the period");
  for (const query of [
    list("if-entries", () => "speed_bps >= 10G", "interfaces: speed_bps >= 10G, for comparison", 5),
    list("if-entries", () => `changes(oper_status, ${recent}) >= 1`, "interfaces: changes(oper_status) >= 1", 5),
    list("if-entries", () => `ever(speed_bps >= 10G, ${recent})`, "interfaces: ever(speed_bps >= 10G)", 5),
    list("if-entries", () => `was(${recent}, speed_bps >= 10G)`, "interfaces: was(speed_bps >= 10G)", 5),
  ])
    await measureLiveAndPast(
      server,
      query,
      instants.filter((instant) => instant > recent),
    );
}

/** Measures a subnet with one address per host. */
async function measureSubnets(server: Running): Promise<void> {
  const queryFor = (name: string, path: string): Query => ({ name, rounds: 20, path: () => `/api/v1/${path}` });
  const subnet = `subnets/${store.subnetId}`;
  printHead(`a subnet with ${hosts + STATIONS.stations} addresses in use`);
  for (const query of [
    queryFor("its utilization", "subnets?include=utilization"),
    queryFor("the tree containing it", `subnets/tree?network_id=${store.networkIds.campus}`),
    queryFor("its addresses, a page of 50", `${subnet}/addresses?limit=50`),
    queryFor("its addresses, a page of 1,000", `${subnet}/addresses?limit=1000`),
    queryFor("free addresses", `${subnet}/free?count=10`),
    queryFor("free /24", `${subnet}/free?count=10&prefix_length=24`),
  ])
    await measureLiveAndPast(server, query);
}

/** Measures many subnets of a network, in a separate store that does not affect the other figures. */
async function measureBranches(): Promise<void> {
  const { sites, rooms, addresses } = SUBNETS;
  const built = await campusStore(join(base, "branches"), { hosts: 1, entriesPerHost: 1 });
  const file = join(built.directory, "branches.json");
  if (!existsSync(file)) await Bun.write(file, JSON.stringify(addSubnets(built, SUBNETS, printLine)));
  const { networkId, completeAt } = (await Bun.file(file).json()) as AddedSubnets;
  const since = new Date(completeAt).toISOString();
  const server = await startExecutable(executable, built.directory);
  const queryFor = (name: string, path: string): Query => ({ name, rounds: 40, path: () => `/api/v1/${path}` });
  printLine("");
  const title = `a network of ${1 + sites + sites * rooms} subnets, ${sites * rooms * addresses} addresses in use`;
  printRow(title, NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
  const target = { server, key: built.key, choices: instantsOf(built).filter((instant) => instant > since) };
  try {
    for (const query of [
      queryFor(
        "utilization of 1,000 subnets in one list",
        `subnets?include=utilization&limit=1000&network_id=${networkId}`,
      ),
      queryFor("their tree, with totals", `subnets/tree?network_id=${networkId}`),
    ])
      await measureRow(target, query);
  } finally {
    await server.stop();
  }
}

/** Measures switches with 200 stations at their edge ports, and 100 more on the uplink. */
async function measureFaceplates(server: Running): Promise<void> {
  const ids = (store.hostIds.campus as string[]).slice(0, STATIONS.switches);
  const late = instants.slice(-STATIONS.stations / 2);
  printLine("");
  printRow("faceplates", NAME_WIDTH, ["p50 ms", "p99 ms", "ports", "stations"], 10);
  for (const isPast of [false, true]) {
    const times: number[] = [];
    let [ports, stations] = [0, 0];
    for (let round = -ids.length; round < 200; round += 1) {
      const atQuery = isPast ? `?at=${sample(late, Math.abs(round))}` : "";
      const path = `/api/v1/hosts/${ids[Math.abs(round) % ids.length]}/faceplate${atQuery}`;
      const { text, tookMs } = await timedGet(server, store, path);
      if (round >= 0) times.push(tookMs);
      const { data } = JSON.parse(text) as { data: { groups: Array<{ ports: Array<{ stations: unknown[] }> }> } };
      const allPorts = data.groups.flatMap((group) => group.ports);
      ports = allPorts.length;
      stations = allPorts.reduce((sum, port) => sum + port.stations.length, 0);
    }
    printTimes(isPast ? "at a random timestamp" : "live", times, ports, stations);
  }
}

/** Measures a separate network: the time depends only on its size. */
async function measureTopology(): Promise<void> {
  const population = { network: "wired", hosts: SWITCHES, ...varied };
  const wired = await buildStore(join(base, "wired"), [population], printLine);
  const cablesFile = join(wired.directory, "cables.json");
  if (!existsSync(cablesFile)) await Bun.write(cablesFile, JSON.stringify(addCables(wired, "wired", ENTRIES)));
  const recabled = join(wired.directory, "recabled.json");
  if (!existsSync(recabled)) {
    const last = instantsOf(wired).at(-1) as string;
    recable(wired, "wired");
    await Bun.write(recabled, JSON.stringify(last));
  }
  const cabledAt = (await Bun.file(recabled).json()) as string;
  // Timestamps after the cabling and before later changes.
  const choices = instantsOf(wired)
    .filter((instant) => instant <= cabledAt)
    .slice(-CABLED_CHANGES);
  const running = await startExecutable(executable, wired.directory);
  try {
    printLine("");
    printRow(
      `topology of ${SWITCHES} switches with ${ENTRIES} ports`,
      NAME_WIDTH,
      ["p50 ms", "p99 ms", "nodes", "links"],
      10,
    );
    for (const { name, rounds, query } of [
      { name: "live", rounds: 100, query: () => "" },
      { name: "at a random timestamp", rounds: 100, query: (round: number) => `&at=${sample(choices, round)}` },
      { name: `over a period with ${RECABLINGS} cabling changes`, rounds: 5, query: () => `&from=${cabledAt}` },
    ]) {
      const times: number[] = [];
      let topology = { nodes: [] as unknown[], links: [] as unknown[] };
      for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
        const path = `/api/v1/topology?network_id=${wired.networkIds.wired}${query(Math.abs(round))}`;
        const { text, tookMs } = await timedGet(running, wired, path);
        if (round >= 0) times.push(tookMs);
        topology = (JSON.parse(text) as { data: typeof topology }).data;
      }
      printTimes(name, times, topology.nodes.length, topology.links.length);
    }
  } finally {
    await running.stop();
  }
}

function printTimes(name: string, times: readonly number[], ...counts: number[]): void {
  const quantile = quantilesOf(times);
  printRow(name, NAME_WIDTH, [quantile(0.5).toFixed(1), quantile(0.99).toFixed(1), ...counts.map(String)], 10);
}

/** Prints the head of a table of queries, live and at a random timestamp. */
function printHead(title: string): void {
  printLine("");
  printRow(title, NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
}

/** @param choices timestamps of the queried past states */
async function measureLiveAndPast(server: Running, query: Query, choices = instants.slice(1)): Promise<void> {
  await measureRow({ server, key: store.key, choices }, query);
}

interface QueryTarget {
  readonly server: Running;
  readonly key: string;
  /** Queried timestamps. */
  readonly choices: readonly string[];
}

async function measureRow({ server, key, choices }: QueryTarget, { name, path, rounds }: Query): Promise<void> {
  const cells: string[] = [];
  let found = 0;
  for (const isPast of [false, true]) {
    const times: number[] = [];
    // Negative rounds warm up the connection and the code, which matters for queries of milliseconds.
    for (let round = -Math.ceil(rounds / 5); round < rounds; round += 1) {
      const atQuery = isPast ? `&at=${sample(choices, Math.abs(round))}` : "";
      const { text, tookMs } = await timedGet(server, { key }, `${path(Math.abs(round))}${atQuery}`);
      if (round >= 0) times.push(tookMs);
      if (!isPast) found = countIn(JSON.parse(text));
    }
    const quantile = quantilesOf(times);
    cells.push(quantile(0.5).toFixed(1), quantile(0.99).toFixed(1));
  }
  printRow(name, NAME_WIDTH, [...cells, String(found)], 10);
}

/** Measures activity, by default over the entire history, and the summary, whose last day contains all of it. */
async function measureActivity(server: Running): Promise<void> {
  const hostIds = store.hostIds.campus as string[];
  const host = (round: number) => `host_id=${hostIds[round % hostIds.length]}`;
  const recent = instants.at(-Math.ceil(instants.length / 100)) as string;
  printLine("");
  const groups = ["type", "network"];
  const flapping = `activity?group_by=record&types=if_entry&fields=oper_status&from=${recent}`;
  printRow("activity", NAME_WIDTH, ["p50 ms", "p99 ms", "changes"], 10);
  for (const { name, rounds, path } of [
    { name: "200 buckets", rounds: 40, path: () => "activity?buckets=200" },
    { name: "200 buckets of interfaces", rounds: 40, path: () => "activity?buckets=200&types=if_entry" },
    { name: "200 buckets of one host", rounds: 40, path: (round: number) => `activity?buckets=200&${host(round)}` },
    { name: "one host by record", rounds: 40, path: (round: number) => `activity?group_by=record&${host(round)}` },
    { name: "by type, by network", rounds: 40, path: (round: number) => `activity?group_by=${groups[round % 2]}` },
    { name: "by actor", rounds: 5, path: () => "activity?group_by=actor" },
    { name: "by record, 1 in 100 transactions", rounds: 5, path: () => `activity?group_by=record&from=${recent}` },
    { name: "flapping ports, 1 in 100 transactions", rounds: 5, path: () => flapping },
    { name: "summary", rounds: 5, path: () => "summary" },
  ]) {
    const target = { server, store, nameWidth: NAME_WIDTH };
    await measureQuery(target, { name, rounds, path }, ({ data }: ActivityResponse) => {
      const { total, changes } = data;
      return total ?? (changes?.created ?? 0) + (changes?.updated ?? 0);
    });
  }
}

interface ActivityResponse {
  readonly data: { readonly total?: number; readonly changes?: { readonly created: number; readonly updated: number } };
}

interface Found {
  readonly data: unknown[] | { available: number };
  readonly meta: { pagination?: { total_count: number } };
}

/** Number of matches: for a search, of results in the response; for free space, of free addresses or prefixes. */
function countIn({ data, meta }: Found): number {
  return meta.pagination?.total_count ?? (Array.isArray(data) ? data.length : data.available);
}

/** Timestamp for a round; multiples of the golden ratio spread them evenly, however many rounds there are. */
function sample(choices: readonly string[], round: number): string {
  return choices[Math.floor((((round + 1) * 0.618_034) % 1) * choices.length)] as string;
}

/** Timestamps of the transactions that wrote hosts and their entries, oldest first. */
function instantsOf({ directory: data }: BuiltStore): string[] {
  const db = openReadOnly(dataFiles(data).database);
  const rows = db.$client.prepare("SELECT at FROM history_transactions WHERE sequence > 10 ORDER BY sequence").values();
  db.$client.close();
  return (rows as Array<[number]>).map(([at]) => new Date(at).toISOString());
}
