// Cost of queries on the compiled executable, live and at a random timestamp, among 1,000,000 interface entries × 5
// versions: searches, filters by index, by full scan (with side effects) and over time, activity, subnets, faceplates.
// Usage: scripts/bench --questions [--hosts 20000] [--directory DIR] [--executable FILE]

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { quantilesOf } from "../quantiles.ts";
import { besideScans } from "./beside-scans.ts";
import { addCables, CABLED_CHANGES, RECABLINGS, recable } from "./cables.ts";
import { EXECUTABLE, type Running, startExecutable } from "./executable.ts";
import { changesRow, measureHighlights, measureLargeTransaction } from "./highlights.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { addStations } from "./stations.ts";
import { type BuiltStore, buildStore } from "./store.ts";
import { type AddedSubnets, addSubnets } from "./subnets.ts";

const { hosts, directory, executable } = settings({ hosts: 20_000, directory: "", executable: EXECUTABLE });
const ENTRIES = 50;
const NAME_WIDTH = 74;
/** In the network of the topology queries. */
const SWITCHES = 500;
/** Known to all of these switches: a tenth of them behind the edge ports of each, the others behind its uplink. */
const STATIONS = { switches: 10, stations: 2_000, moves: 1 };
/** A thousand of them, with one address in five in use. */
const SUBNETS = { sites: 9, rooms: 110, addresses: 50 };

say(`Building: ${hosts} hosts × ${ENTRIES} interface entries × 5 versions`);
const base = folder(directory);
const store = await buildStore(
  join(base, "questions"),
  [{ network: "campus", hosts, entriesPerHost: ENTRIES, versions: 5, isVaried: true }],
  say,
);
if (!existsSync(join(store.directory, "stations.json"))) {
  addStations(store, { ...STATIONS, switches: Math.min(hosts, STATIONS.switches) }, say);
  await Bun.write(join(store.directory, "stations.json"), JSON.stringify(STATIONS));
}
const instants = instantsOf(store);
/** From then on all interfaces exist: each host was created in a separate transaction. */
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

interface Question {
  readonly name: string;
  readonly path: (turn: number) => string;
  readonly turns: number;
}

/** Over all kinds, 20 results: rare names, and a name shared by a million records. */
async function measureSearch(server: Running): Promise<void> {
  const some = (turn: number) => (turn * 7_919) % hosts;
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  const question = (name: string, q: (turn: number) => string, turns = 200): Question => ({
    name,
    turns,
    path: (turn) => `/api/v1/search?${new URLSearchParams({ q: q(turn) })}`,
  });
  say("");
  sayRow("search everywhere, 20 results", NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
  for (const each of [
    question("a host", (turn) => `switch-${some(turn)}`),
    question("a serial number", (turn) => `FOC${String(some(turn)).padStart(6, "0")}X`),
    question("an interface of a host", (turn) => `switch-${some(turn)} gi1/0/${1 + (turn % ENTRIES)}`),
    question("an address", (turn) => `10.${some(turn) >> 16}.${(some(turn) >> 8) & 255}.${some(turn) & 255}`),
    question("a MAC address", (turn) => `001b.${hex(some(turn) >> 8, 4)}.${hex(some(turn) & 255, 2)}07`),
    question("four digits in a MAC address", (turn) => hex((turn * 104_729) % 65_536, 4)),
    question("a VLAN", (turn) => `vlan ${100 + (turn % 40)}`),
    question("an interface of every host: gi1/0/7", (turn) => `gi1/0/${1 + (turn % ENTRIES)}`),
    question("all interfaces: gi1", () => "gi1"),
    question("all interfaces: 1", () => "1"),
    question("words of all aliases: uplink rack", () => "uplink rack"),
    question("words of some aliases: rack 7, change", (turn) => `rack ${1 + (turn % ENTRIES)}, change`),
    question("former names of all interfaces: change 0", () => "change 0"),
    question("all hosts and all interfaces: switch gi1", () => "switch gi1"),
    question("the manufacturer of all MAC addresses: 001b", () => "00:1b"),
    question("nothing", (turn) => `nothing-${turn}`),
  ])
    await row(server, each);
}

async function measureFilters(server: Running): Promise<void> {
  const some = (turn: number) => (turn * 7_919) % hosts;
  const list = (path: string, filter: (turn: number) => string, name: string, turns: number): Question => ({
    name,
    turns,
    path: (turn) => `/api/v1/${path}?${new URLSearchParams({ filter: filter(turn) })}`,
  });
  const mac = (host: number) =>
    [0, 0x1b, host >> 16, host >> 8, host, 7].map((byte) => (byte & 255).toString(16).padStart(2, "0")).join(":");
  const address = (host: number) => `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`;
  const recently = instants.at(-Math.ceil(instants.length / 100)) as string;
  say("");
  sayRow("by an index", NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
  for (const question of [
    list("if-entries", (turn) => `host.name = switch-${some(turn)}`, "interfaces: host.name =", 100),
    list("hosts", (turn) => `name = switch-${some(turn)}`, "hosts: name =", 100),
    list(
      "hosts",
      (turn) => `serial_number = FOC${String(some(turn)).padStart(6, "0")}X`,
      "hosts: serial_number =",
      100,
    ),
    list("if-entries", (turn) => `mac_address = ${mac(some(turn))}`, "interfaces: mac_address =", 100),
    list("ip-addresses", (turn) => `ip_address = ${address(some(turn))}`, "addresses: ip_address =", 100),
    list("ip-addresses", (turn) => `ip_address : "10.0.${some(turn) >> 8}.0/24"`, "addresses: ip_address : /24", 100),
    list(
      "hosts",
      (turn) => `ip_addresses.ip_address = ${address(some(turn))}`,
      "hosts: ip_addresses.ip_address =",
      100,
    ),
    list("if-entries", () => "neighbor.name = switch-0", "interfaces: neighbor.name =", 40),
    list("if-entries", (turn) => `vlan.number = ${100 + (turn % 40)}`, "interfaces: vlan.number = (1 in 40)", 40),
    list("if-entries", () => "oper_status = Down", "interfaces: oper_status = Down (1 in 20)", 40),
    list("if-entries", () => 'network.name = "campus" AND oper_status = Down', "the same of a network", 40),
  ])
    await row(server, question);
  say("");
  sayRow("full scan", NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
  const scans = [
    list("if-entries", () => "speed_bps >= 10G", "interfaces: speed_bps >= 10G", 5),
    list("if-entries", () => 'if_alias : "rack 7,"', "interfaces: if_alias : part", 5),
    list(
      "if-entries",
      () => "NOT if_name = Gi1/0/1 AND speed_bps < 1G",
      "interfaces: NOT if_name = AND speed_bps <",
      5,
    ),
    list("if-entries", () => "host.name = switch-1*", "interfaces: host.name = switch-1* (half of the hosts)", 5),
  ];
  for (const question of scans) await row(server, question, complete);
  say("");
  sayRow(
    "another reader at the same time, and peak anonymous memory",
    NAME_WIDTH,
    ["reads", "p99 ms", "longest", "MB"],
    10,
  );
  for (const isPast of [false, true]) {
    const at = (turn: number) => (isPast ? `&at=${someOf(complete, turn)}` : "");
    const { reads, p99Ms, longestMs, peakMb } = await besideScans(
      server,
      store.key,
      [0, 1, 2].flatMap((turn) => scans.map(({ path }) => path(turn) + at(turn))),
      [
        `/api/v1/networks/${store.networkIds.campus}`,
        "/api/v1/if-entries?limit=50",
        list("if-entries", () => `mac_address = ${mac(some(1))}`, "", 1).path(0),
        list("hosts", () => `name = switch-${some(2)}`, "", 1).path(0),
      ],
    );
    const cells = [String(reads), p99Ms.toFixed(1), longestMs.toFixed(1), peakMb.toFixed(0)];
    sayRow(isPast ? "at a random instant" : "live", NAME_WIDTH, cells, 10);
  }
  say("");
  sayRow(
    "over time, with 1 in 100 transactions in the period",
    NAME_WIDTH,
    ["live p50", "p99 ms", "past p50", "p99 ms", "found"],
    10,
  );
  for (const question of [
    list("if-entries", () => "speed_bps >= 10G", "interfaces: speed_bps >= 10G, for comparison", 5),
    list("if-entries", () => `changes(oper_status, ${recently}) >= 1`, "interfaces: changes(oper_status) >= 1", 5),
    list("if-entries", () => `ever(speed_bps >= 10G, ${recently})`, "interfaces: ever(speed_bps >= 10G)", 5),
    list("if-entries", () => `was(${recently}, speed_bps >= 10G)`, "interfaces: was(speed_bps >= 10G)", 5),
  ])
    await row(
      server,
      question,
      instants.filter((instant) => instant > recently),
    );
}

/** A subnet with an address of each host. */
async function measureSubnets(server: Running): Promise<void> {
  const of = (name: string, path: string): Question => ({ name, turns: 20, path: () => `/api/v1/${path}` });
  const subnet = `subnets/${store.subnetId}`;
  say("");
  sayRow(
    `a subnet with ${hosts + STATIONS.stations} addresses in use`,
    NAME_WIDTH,
    ["live p50", "p99 ms", "past p50", "p99 ms", "found"],
    10,
  );
  for (const question of [
    of("its utilization", "subnets?include=utilization"),
    of("the tree containing it", `subnets/tree?network_id=${store.networkIds.campus}`),
    of("its addresses, a page of 50", `${subnet}/addresses?limit=50`),
    of("its addresses, a page of 1,000", `${subnet}/addresses?limit=1000`),
    of("free addresses", `${subnet}/free?count=10`),
    of("free /24", `${subnet}/free?count=10&prefix_length=24`),
  ])
    await row(server, question);
}

/** Many subnets of a network, in a separate store that does not affect the other figures. */
async function measureBranches(): Promise<void> {
  const { sites, rooms, addresses } = SUBNETS;
  const built = await buildStore(
    join(base, "branches"),
    [{ network: "campus", hosts: 1, entriesPerHost: 1, versions: 1 }],
    say,
  );
  const file = join(built.directory, "branches.json");
  if (!existsSync(file)) await Bun.write(file, JSON.stringify(addSubnets(built, SUBNETS, say)));
  const { networkId, whole } = (await Bun.file(file).json()) as AddedSubnets;
  const since = new Date(whole).toISOString();
  const server = await startExecutable(executable, built.directory);
  const of = (name: string, path: string): Question => ({ name, turns: 40, path: () => `/api/v1/${path}` });
  say("");
  const title = `a network of ${1 + sites + sites * rooms} subnets, ${sites * rooms * addresses} addresses in use`;
  sayRow(title, NAME_WIDTH, ["live p50", "p99 ms", "past p50", "p99 ms", "found"], 10);
  const asking = { server, key: built.key, choice: instantsOf(built).filter((instant) => instant > since) };
  try {
    for (const question of [
      of("utilization of 1,000 subnets in one list", `subnets?include=utilization&limit=1000&network_id=${networkId}`),
      of("their tree, with totals", `subnets/tree?network_id=${networkId}`),
    ])
      await rowOf(asking, question);
  } finally {
    await server.stop();
  }
}

/** Switches with 200 stations at their edge ports, and 100 more on the uplink. */
async function measureFaceplates(server: Running): Promise<void> {
  const ids = (store.hostIds.campus as string[]).slice(0, STATIONS.switches);
  const late = instants.slice(-STATIONS.stations / 2);
  say("");
  sayRow("faceplates", NAME_WIDTH, ["p50 ms", "p99 ms", "ports", "stations"], 10);
  for (const isPast of [false, true]) {
    const times: number[] = [];
    let [ports, stations] = [0, 0];
    for (let turn = -ids.length; turn < 200; turn += 1) {
      const at = isPast ? `?at=${someOf(late, Math.abs(turn))}` : "";
      const started = performance.now();
      const answer = await fetch(
        `http://127.0.0.1:${server.port}/api/v1/hosts/${ids[Math.abs(turn) % ids.length]}/faceplate${at}`,
        { headers: { authorization: `Bearer ${store.key}` } },
      );
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`faceplate: ${text.slice(0, 300)}`);
      if (turn >= 0) times.push(performance.now() - started);
      const { data } = JSON.parse(text) as { data: { groups: Array<{ ports: Array<{ stations: unknown[] }> }> } };
      const all = data.groups.flatMap((group) => group.ports);
      ports = all.length;
      stations = all.reduce((sum, port) => sum + port.stations.length, 0);
    }
    const quantile = quantilesOf(times);
    const cells = [quantile(0.5).toFixed(1), quantile(0.99).toFixed(1), String(ports), String(stations)];
    sayRow(isPast ? "at a random instant" : "live", NAME_WIDTH, cells, 10);
  }
}

/** A separate network: the cost depends only on its size. */
async function measureTopology(): Promise<void> {
  const wired = await buildStore(
    join(base, "wired"),
    [{ network: "wired", hosts: SWITCHES, entriesPerHost: ENTRIES, versions: 5, isVaried: true }],
    say,
  );
  const noted = join(wired.directory, "cables.json");
  if (!existsSync(noted)) await Bun.write(noted, JSON.stringify(addCables(wired, "wired", ENTRIES)));
  const recabled = join(wired.directory, "recabled.json");
  if (!existsSync(recabled)) {
    const last = instantsOf(wired).at(-1) as string;
    recable(wired, "wired");
    await Bun.write(recabled, JSON.stringify(last));
  }
  const cabled = (await Bun.file(recabled).json()) as string;
  // After the cabling, before further changes.
  const choice = instantsOf(wired)
    .filter((instant) => instant <= cabled)
    .slice(-CABLED_CHANGES);
  const running = await startExecutable(executable, wired.directory);
  try {
    say("");
    sayRow(
      `topology of ${SWITCHES} switches with ${ENTRIES} ports`,
      NAME_WIDTH,
      ["p50 ms", "p99 ms", "nodes", "links"],
      10,
    );
    for (const { name, turns, query } of [
      { name: "live", turns: 100, query: () => "" },
      { name: "at a random instant", turns: 100, query: (turn: number) => `&at=${someOf(choice, turn)}` },
      { name: `over a period with ${RECABLINGS} changes of the cabling`, turns: 5, query: () => `&from=${cabled}` },
    ]) {
      const times: number[] = [];
      let shown = { nodes: [] as unknown[], links: [] as unknown[] };
      for (let turn = -Math.ceil(turns / 10); turn < turns; turn += 1) {
        const started = performance.now();
        const path = `/api/v1/topology?network_id=${wired.networkIds.wired}${query(Math.abs(turn))}`;
        const answer = await fetch(`http://127.0.0.1:${running.port}${path}`, {
          headers: { authorization: `Bearer ${wired.key}` },
        });
        const text = await answer.text();
        if (turn >= 0) times.push(performance.now() - started);
        if (answer.status !== 200) throw new Error(`topology: ${text.slice(0, 300)}`);
        shown = (JSON.parse(text) as { data: typeof shown }).data;
      }
      const quantile = quantilesOf(times);
      const cells = [
        quantile(0.5).toFixed(1),
        quantile(0.99).toFixed(1),
        String(shown.nodes.length),
        String(shown.links.length),
      ];
      sayRow(name, NAME_WIDTH, cells, 10);
    }
  } finally {
    await running.stop();
  }
}

/** @param choice of the queried timestamps */
async function row(server: Running, question: Question, choice = instants.slice(1)): Promise<void> {
  await rowOf({ server, key: store.key, choice }, question);
}

interface Asking {
  readonly server: Running;
  readonly key: string;
  /** Queried timestamps. */
  readonly choice: readonly string[];
}

async function rowOf({ server, key, choice }: Asking, { name, path, turns }: Question): Promise<void> {
  const cells: string[] = [];
  let found = 0;
  for (const isPast of [false, true]) {
    const times: number[] = [];
    // Warm-up for queries of milliseconds: connection and code are cold.
    for (let turn = -Math.ceil(turns / 5); turn < turns; turn += 1) {
      const at = isPast ? `&at=${someOf(choice, Math.abs(turn))}` : "";
      const started = performance.now();
      const answer = await fetch(`http://127.0.0.1:${server.port}${path(Math.abs(turn))}${at}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${name}: ${text.slice(0, 300)}`);
      if (turn >= 0) times.push(performance.now() - started);
      if (!isPast) found = countIn(JSON.parse(text));
    }
    const at = quantilesOf(times);
    cells.push(at(0.5).toFixed(1), at(0.99).toFixed(1));
  }
  sayRow(name, NAME_WIDTH, [...cells, String(found)], 10);
}

/** Activity over the whole history by default; and the summary, with all of it in its last day. */
async function measureActivity(server: Running): Promise<void> {
  const someHosts = store.hostIds.campus as string[];
  const host = (turn: number) => `host_id=${someHosts[turn % someHosts.length]}`;
  const recently = instants.at(-Math.ceil(instants.length / 100)) as string;
  say("");
  sayRow("activity", NAME_WIDTH, ["p50 ms", "p99 ms", "changes"], 10);
  for (const { name, turns, path } of [
    { name: "200 buckets", turns: 40, path: () => "activity?buckets=200" },
    { name: "200 buckets of interfaces", turns: 40, path: () => "activity?buckets=200&types=if_entry" },
    { name: "200 buckets of one host", turns: 40, path: (turn: number) => `activity?buckets=200&${host(turn)}` },
    { name: "one host by record", turns: 40, path: (turn: number) => `activity?group_by=record&${host(turn)}` },
    {
      name: "by type, by network",
      turns: 40,
      path: (turn: number) => `activity?group_by=${["type", "network"][turn % 2]}`,
    },
    { name: "by actor", turns: 5, path: () => "activity?group_by=actor" },
    { name: "by record, 1 in 100 transactions", turns: 5, path: () => `activity?group_by=record&from=${recently}` },
    {
      name: "flapping ports, 1 in 100 transactions",
      turns: 5,
      path: () => `activity?group_by=record&types=if_entry&fields=oper_status&from=${recently}`,
    },
    { name: "summary", turns: 5, path: () => "summary" },
  ]) {
    await changesRow({ server, store, nameWidth: NAME_WIDTH }, { name, turns, path }, ({ data }: AskedActivity) => {
      const { total, changes } = data;
      return total ?? (changes?.created ?? 0) + (changes?.updated ?? 0);
    });
  }
}

interface AskedActivity {
  readonly data: { readonly total?: number; readonly changes?: { readonly created: number; readonly updated: number } };
}

/** Number of matches; for a search, results in the answer; for free space, its size. */
function countIn({
  data,
  meta,
}: {
  data: unknown[] | { available: number };
  meta: { pagination?: { total_count: number } };
}): number {
  return meta.pagination?.total_count ?? (Array.isArray(data) ? data.length : data.available);
}

/** Sequential values, evenly spread for any number: by the golden ratio. */
function someOf(choice: readonly string[], turn: number): string {
  return choice[Math.floor((((turn + 1) * 0.618_034) % 1) * choice.length)] as string;
}

/** Timestamps of the transactions that wrote hosts and their entries, oldest first. */
function instantsOf({ directory: data }: BuiltStore): string[] {
  const db = openReadOnly(dataFiles(data).database);
  const rows = db.$client.prepare("SELECT at FROM history_transactions WHERE sequence > 10 ORDER BY sequence").values();
  db.$client.close();
  return (rows as Array<[number]>).map(([at]) => new Date(at).toISOString());
}
