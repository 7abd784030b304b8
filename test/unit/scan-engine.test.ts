import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import type { ScanNote } from "../../src/discovery/scans/commands.ts";
import { ADDRESSES_OF_HOST_MAX } from "../../src/discovery/scans/device-polling.ts";
import { type EngineParts, NAMES_UNANSWERED_MAX, runScan, SAVE_INTERVAL_MS } from "../../src/discovery/scans/engine.ts";
import type { Assignment, KnownAddress, KnownHost, KnownNetwork } from "../../src/discovery/scans/known-network.ts";
import { CONCURRENT_DEVICES, CONCURRENT_NAME_LOOKUPS } from "../../src/discovery/scans/probes.ts";
import { PROGRESS_INTERVAL_MS, type ScanProgress } from "../../src/discovery/scans/scan.ts";
import { STOP_MS } from "../../src/discovery/scans/scan-ending.ts";
import type { ScanOrder, StopReason } from "../../src/discovery/scans/scan-thread.ts";
import type { KnownSubnet } from "../../src/discovery/scans/scope.ts";
import { inputOf } from "../../src/discovery/sighting-lines.ts";
import type { AddressSighting, DeviceSighting, Finding, Recorded } from "../../src/discovery/sightings.ts";
import { AcceptingSubnets } from "../../src/resources/subnets/accepting.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { FakeProbes } from "../support/injected/fake-probes.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const EMPTY_RESULT: Recorded = { records: {}, findings: [], hosts: [] };

interface NetworkSetup {
  readonly subnets?: Array<string | (KnownSubnet & { readonly accepts_credentials?: boolean })>;
  /** Name → addresses. */
  readonly hosts?: Record<string, string[]>;
  readonly assignments?: Assignment[];
  /** Address → credential. */
  readonly remembered?: Record<string, string>;
  readonly staleAfterHours?: number;
}

const BROADCAST: Assignment = { credential_id: "public", host_id: null, ip_address_ids: null, covered: new Set() };

function networkOf({
  subnets = ["10.0.0.0/28"],
  hosts = {},
  assignments = [BROADCAST],
  remembered = {},
  staleAfterHours,
}: NetworkSetup): KnownNetwork {
  const knownHosts = Object.entries(hosts).map(
    ([name, addresses]): KnownHost => ({
      id: name,
      name,
      sys_name: null,
      addresses: addresses.map(
        (ip_address): KnownAddress => ({ id: `${name}/${ip_address}`, ip_address, host_id: name }),
      ),
    }),
  );
  const byAddress = new Map<string, KnownAddress[]>();
  for (const address of knownHosts.flatMap(({ addresses }) => addresses))
    byAddress.set(address.ip_address, [...(byAddress.get(address.ip_address) ?? []), address]);
  return {
    n: 7,
    staleAfterHours: staleAfterHours ?? null,
    subnets: subnets.map((subnet) => ({
      id: `subnet ${typeof subnet === "string" ? subnet : subnet.cidr}`,
      accepts_credentials: true,
      ...(typeof subnet === "string" ? { cidr: subnet, subnet_type: "Lan" as const } : subnet),
    })),
    hosts: new Map(knownHosts.map((host) => [host.id, host])),
    byAddress,
    assignments,
    remembered: new Map(
      Object.entries(remembered).map(([address, credential_id]) => [address, { credential_id, key_extension: null }]),
    ),
  };
}

interface RunOptions
  extends NetworkSetup,
    Partial<Pick<ScanOrder, "kind" | "targets" | "target_ips" | "allow_large" | "are_targets_permitted">> {
  readonly probes?: FakeProbes;
  readonly parts?: Partial<EngineParts>;
  /** Response of the writer. */
  readonly respond?: (command: string, input: Record<string, unknown>) => Recorded | Error;
}

/** A scan over a simulated network, without a store. */
function newRun(options: RunOptions) {
  const probes = options.probes ?? new FakeProbes();
  const clock = new TestClock();
  const timers = new TestTimers(clock);
  const controller = new AbortController();
  const commands: Array<{ command: string; input: Record<string, unknown> }> = [];
  const reports: ScanProgress[] = [];
  const order: ScanOrder = {
    id: "s",
    network_id: "n",
    organization_id: "o",
    kind: options.kind ?? "full",
    targets: options.targets ?? null,
    commit: true,
    allow_large: options.allow_large ?? false,
    target_ips: options.target_ips ?? [],
    dispatch_sequence: null,
    are_targets_permitted: options.are_targets_permitted ?? (options.targets ?? null) !== null,
  };
  const network = networkOf(options);
  const run = () =>
    runScan(
      order,
      {
        write: async <T>(command: string, bytes: Uint8Array): Promise<CommandOutcome<T>> => {
          const input = inputOf<Record<string, unknown>>(new TextDecoder().decode(new Uint8Array(bytes)));
          commands.push({ command, input });
          const result =
            command === "discovery.note" ? EMPTY_RESULT : (options.respond?.(command, input) ?? EMPTY_RESULT);
          if (result instanceof Error) throw result;
          return { sequence: null, result: result as T };
        },
        report: (progress) => reports.push(progress),
        signal: controller.signal,
      },
      {
        probes,
        network,
        openCredential: (id) => ({
          ok: true,
          credential: { credential_id: id, name: id, version: "SnmpV2c", community: id },
        }),
        permissions: () => ({
          at: () => ({ ...network, subnets: new AcceptingSubnets(network.subnets) }),
          isTargetIp: () => true,
          untilCommit: (_name, find) => find(),
        }),
        servedBefore: () => null,
        macsBefore: () => [],
        dryRun: null,
        links: { find: () => [] },
        unseen: () => [],
        expired: () => ({ records: [], sightings: [] }),
        clock,
        timers,
        ...options.parts,
      },
    );
  const collect = <T>(command: string, field: string) =>
    commands.filter((sent) => sent.command === command).flatMap(({ input }) => input[field] as T[]);
  return {
    probes,
    clock,
    timers,
    commands,
    reports,
    run,
    stop: (reason: StopReason) => controller.abort(reason),
    devices: () => collect<DeviceSighting>("discovery.devices", "sightings").map(({ ip_address }) => ip_address),
    addresses: () => collect<AddressSighting>("discovery.addresses", "sightings").map(({ ip_address }) => ip_address),
    findings: () => collect<Finding>("discovery.note", "findings"),
    notes: () =>
      commands.flatMap(({ command, input }) => (command === "discovery.note" ? [input as unknown as ScanNote] : [])),
  };
}

/** Addresses of 10.0.0.0/28. */
const ALL_ADDRESSES = Array.from({ length: 14 }, (_, index) => `10.0.0.${index + 1}`);
const queriedAddresses = (probes: FakeProbes) => probes.queries.map(({ address }) => address);
const ownAddress = (last: number) => ({ ip_address: `10.0.0.${last}`, prefix_length: 28, if_index: 1 });

/** Waits until a probe is aborted. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
}

describe("a sweep", () => {
  test("covers the subnets' addresses, and passes on responding ones, without SNMP", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.99");
    const { run, addresses } = newRun({ kind: "sweep", probes });
    const { end } = await run();
    expect(probes.swept).toEqual(ALL_ADDRESSES);
    expect(addresses()).toEqual(["10.0.0.3", "10.0.0.4"]);
    expect(probes.queries).toEqual([]);
    expect(end).toMatchObject({
      status: "Completed",
      problem: null,
      outcome: { hosts: { found: 2, devices: 0 }, icmp: "fake" },
      progress: { phase: "done", addresses_total: 14, addresses_done: 14, hosts_found: 2, seconds_left: 0 },
    });
  });

  test("reports silent known hosts and named targets", async () => {
    const probes = new FakeProbes("10.0.0.3");
    const { run, findings } = newRun({
      kind: "sweep",
      probes,
      hosts: { near: ["10.0.0.3", "10.0.0.4"], gone: ["10.0.0.5", "10.0.0.6"], far: ["192.0.2.1"] },
    });
    await run();
    expect(findings()).toEqual([
      { type: "Unreached", entity: "host", id: "gone", label: "gone", reason: "no response from 10.0.0.5, 10.0.0.6" },
    ]);
    const namedScan = newRun({ kind: "sweep", targets: ["10.0.0.0/30", "10.0.0.9"] });
    await namedScan.run();
    expect(namedScan.findings()).toEqual([
      { type: "Unreached", entity: null, id: null, label: "10.0.0.9", reason: "no response" },
    ]);
  });

  test("accepts only responses to its own probes", async () => {
    const probes = new FakeProbes();
    probes.sweep = async (addresses, _signal, events) => {
      await events.answer({ ip_address: "192.0.2.1", mac_address: null, answered: ["Icmp"] });
      for (const _twice of [1, 2])
        await events.answer({ ip_address: addresses[0] as string, mac_address: null, answered: ["Icmp"] });
      return { methods: "" };
    };
    const { run, addresses } = newRun({ kind: "sweep", probes });
    await run();
    expect(addresses()).toEqual(["10.0.0.1"]);
  });
});

describe("a full scan", () => {
  test("reads responding devices, and writes a device before its address", async () => {
    const probes = new FakeProbes();
    for (const address of ["10.0.0.3", "10.0.0.4"])
      probes.alive.set(address, { mac_address: `00:00:5e:00:53:0${address.at(-1)}`, hostname: `h${address.at(-1)}` });
    probes.addDevice("10.0.0.3");
    const { run, commands } = newRun({ probes });
    const { end } = await run();
    expect(queriedAddresses(probes)).toEqual(["10.0.0.3", "10.0.0.4"]);
    const written = commands.map(({ command }) => command).filter((name) => name !== "discovery.note");
    expect(written).toEqual(["discovery.devices", "discovery.addresses", "discovery.swept", "discovery.vlans"]);
    const seen = { ip_address: "10.0.0.3", mac_address: "00:00:5e:00:53:03", hostname: "h3" };
    expect(commands[0]?.input.sightings).toMatchObject([{ ...seen, credential: { credential_id: "public" } }]);
    expect(commands[1]?.input.sightings).toHaveLength(2);
    expect(end.outcome).toMatchObject({ hosts: { found: 2, devices: 1, unreached: 0 } });
    expect(end.progress).toMatchObject({ devices_asked: 2, devices_answered: 1, errors: { no_answer: 1 } });
  });

  test("reads a known host once, regardless of its addresses, preferring the last responding one", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5");
    probes.addDevice("10.0.0.5");
    const { run, addresses } = newRun({
      probes,
      hosts: { core: ["10.0.0.3", "10.0.0.4", "10.0.0.5"] },
      remembered: { "10.0.0.5": "public" },
    });
    await run();
    expect(queriedAddresses(probes)).toEqual(["10.0.0.5"]);
    expect(addresses()).toEqual(["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  });

  test("does not read a device again at its other addresses, but reads another host there", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5");
    probes.addDevice("10.0.0.3", { addresses: [3, 4, 5].map(ownAddress) });
    const cancelled: string[] = [];
    // The others are running when the first one responds.
    probes.hold = async (address, signal) => {
      if (probes.queries.length === 0 || address === "10.0.0.3") return;
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => {
        cancelled.push(address);
        resolve();
      });
      if (address === "10.0.0.5") resolve();
      await promise;
    };
    const { run, addresses, findings } = newRun({ probes, hosts: { other: ["10.0.0.5"] } });
    const { end } = await run();
    expect(cancelled).toEqual(["10.0.0.4"]);
    expect(queriedAddresses(probes).toSorted()).toEqual(["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
    expect(addresses()).toHaveLength(3);
    expect(findings()).toEqual([]);
    expect(end.progress?.errors).toEqual({ no_answer: 1 });
  });

  test("reads a device's address if another station was seen there, unless routers share it", async () => {
    const probes = new FakeProbes();
    const macs = ["00:00:5e:00:53:01", "00:00:5e:00:53:02", "00:00:5e:00:53:03", "00:00:5e:00:01:07"];
    for (const [index, mac_address] of macs.entries()) probes.alive.set(`10.0.0.${index + 1}`, { mac_address });
    const addresses = [1, 2, 3, 4].map(ownAddress);
    probes.addDevice("10.0.0.1", { addresses, interfaces: [{ if_index: 1, mac_address: macs[2] as string }] });
    const cancelled: string[] = [];
    const { promise: both, resolve } = Promise.withResolvers<void>();
    probes.hold = async (address, signal) => {
      if (probes.queries.length === 0 || address === "10.0.0.1") return;
      signal.addEventListener("abort", () => {
        if (cancelled.push(address) === 2) resolve();
      });
      await both;
    };
    await newRun({ probes }).run();
    expect(cancelled.toSorted()).toEqual(["10.0.0.3", "10.0.0.4"]);
  });

  test("reads silent hosts only with earlier SNMP responses or their own credentials", async () => {
    const probes = new FakeProbes();
    probes.addDevice("10.0.0.3");
    probes.addDevice("10.0.0.5", {}, "own");
    const own = { credential_id: "own", host_id: "own", ip_address_ids: null, covered: new Set(["10.0.0.5"]) };
    const { run, devices, findings } = newRun({
      probes,
      hosts: { before: ["10.0.0.3"], never: ["10.0.0.4"], own: ["10.0.0.5"], lost: ["10.0.0.6"] },
      assignments: [BROADCAST, own],
      remembered: { "10.0.0.3": "public", "10.0.0.6": "public" },
    });
    await run();
    expect(devices().toSorted()).toEqual(["10.0.0.3", "10.0.0.5"]);
    const reasons = findings().map(({ label, reason }) => `${label}: ${reason}`);
    expect(reasons.toSorted()).toEqual(["lost: 10.0.0.6: no answer", "never: no response from 10.0.0.4"]);
  });

  test("distinguishes failures, and reports silence only where significant", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6");
    probes.refusals.set("10.0.0.3", "wrong_password");
    probes.refusals.set("10.0.0.4", "port_closed");
    probes.refusals.set("10.0.0.5", "wrong_user");
    const hosts = { phone: ["10.0.0.4"], core: ["10.0.0.5"], printer: ["10.0.0.6"] };
    const { run, findings } = newRun({ probes, hosts });
    const { end } = await run();
    expect(findings()).toEqual([
      { type: "Unreached", entity: null, id: null, label: "10.0.0.3", reason: "wrong password" },
      { type: "Unreached", entity: "host", id: "core", label: "core", reason: "10.0.0.5: wrong user" },
    ]);
    expect(end.progress?.errors).toEqual({ wrong_password: 1, port_closed: 1, wrong_user: 1, no_answer: 1 });
  });

  test("reports missing credentials, but still sweeps", async () => {
    const probes = new FakeProbes("10.0.0.3");
    const { run, addresses } = newRun({ probes, assignments: [] });
    const { end } = await run();
    expect(addresses()).toEqual(["10.0.0.3"]);
    const problem = "no credential is assigned in this network: no device was read by SNMP";
    expect(end).toMatchObject({ status: "Completed", outcome: { problem } });
  });
});

describe("an SNMP scan", () => {
  test("reads known hosts in the subnets without targets, a few addresses each, without a sweep", async () => {
    const probes = new FakeProbes();
    const many = Array.from({ length: 12 }, (_, index) => `10.0.0.${index + 2}`);
    const { run, findings } = newRun({
      kind: "snmp",
      probes,
      hosts: { near: ["10.0.0.1"], far: ["192.0.2.1"], many, large: ["10.9.0.1"] },
      subnets: ["10.0.0.0/28", "10.8.0.0/15"],
    });
    await run();
    expect(probes.swept).toEqual([]);
    const expected = ["10.0.0.1", ...many.slice(0, ADDRESSES_OF_HOST_MAX), "10.9.0.1"];
    expect(queriedAddresses(probes).toSorted()).toEqual(expected.toSorted());
    const unreached = findings().filter(({ type }) => type === "Unreached");
    expect(unreached.map(({ label }) => label).toSorted()).toEqual(["large", "many", "near"]);
  });

  test("reads each target, a known host once, and reports silence of named and known ones only", async () => {
    const probes = new FakeProbes();
    const { run, findings } = newRun({
      kind: "snmp",
      probes,
      targets: ["10.5.0.0/29", "10.6.0.1"],
      hosts: { core: ["10.5.0.2", "10.5.0.3", "10.7.0.1"] },
    });
    const { end } = await run();
    expect(queriedAddresses(probes).toSorted()).toEqual(
      "10.5.0.1 10.5.0.2 10.5.0.3 10.5.0.4 10.5.0.5 10.5.0.6 10.6.0.1".split(" "),
    );
    const reasons = findings().map(({ id, label, reason }) => `${id} ${label}, ${reason}`);
    const core = "core core, 10.5.0.2: no answer; 10.5.0.3: no answer";
    expect(reasons.toSorted()).toEqual([core, "null 10.6.0.1, no answer"]);
    const counts = { addresses_total: 7, addresses_done: 7, devices_asked: 7 };
    expect(end.progress).toMatchObject({ ...counts, errors: { no_answer: 7 } });
  });

  test("has limited concurrency", async () => {
    const probes = new FakeProbes();
    probes.hold = nextTurn;
    await newRun({ kind: "snmp", probes, targets: ["10.5.0.0/24"] }).run();
    expect(probes.maxConcurrent).toBe(CONCURRENT_DEVICES);
    expect(probes.queries).toHaveLength(254);
  });

  test("starts with initial addresses of credentials, even outside the subnets, but never non-host ones", async () => {
    const probes = new FakeProbes();
    probes.addDevice("192.0.2.1", {}, "bootstrap");
    const { run, findings, devices } = newRun({
      kind: "snmp",
      probes,
      hosts: { near: ["10.0.0.1"] },
      target_ips: [{ credential_id: "bootstrap", ip_addresses: ["192.0.2.1", "192.0.2.2", "224.0.0.1"] }],
    });
    await run();
    expect(queriedAddresses(probes)).toEqual(["192.0.2.1", "192.0.2.2", "10.0.0.1"]);
    expect(probes.queries[0]?.credentials.map(({ credential_id }) => credential_id)).toEqual(["bootstrap"]);
    expect(devices()).toEqual(["192.0.2.1"]);
    const described = findings().map(({ type, label }) => `${type} ${label}`);
    expect(described).toEqual(["Skipped 224.0.0.1", "Unreached 192.0.2.2", "Unreached near"]);
  });

  test("follows neighbors by address and name, within the subnets only", async () => {
    const probes = new FakeProbes();
    const managed = (mgmt_addr: string) => ({ mgmt_addr });
    const lldp = [managed("10.0.0.2"), managed("192.0.2.9"), { sys_name: "edge-7" }, { sys_name: "Known" }];
    const cdp = [{ address: "10.0.0.3", device_id: "ignored" }, { device_id: "not a name!" }];
    probes.addDevice("10.0.0.1", { interfaces: [{ if_index: 1, lldp, cdp }] });
    probes.addDevice("10.0.0.2", { interfaces: [{ if_index: 1, lldp: ["10.0.0.1", "10.0.0.4"].map(managed) }] });
    probes.addDevice("10.0.0.4");
    probes.addDevice("10.0.0.7", { sys_name: "edge-7" });
    probes.names.set("edge-7", ["192.0.2.7", "10.0.0.7"]);
    const { run, devices } = newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"], Known: [] } });
    await run();
    expect(queriedAddresses(probes)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.7", "10.0.0.4"]);
    expect(probes.lookedUp).toEqual(["edge-7"]);
    expect(devices()).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.0.4"]);
  });

  test("stops name lookups if no server responds", async () => {
    const probes = new FakeProbes();
    probes.isWithoutResolver = true;
    const portTo = (_: unknown, index: number) => ({ if_index: index + 1, lldp: [{ sys_name: `edge-${index}` }] });
    probes.addDevice("10.0.0.1", { interfaces: Array.from({ length: 200 }, portTo) });
    await newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"] } }).run();
    expect(probes.lookedUp.length).toBeLessThanOrEqual(CONCURRENT_NAME_LOOKUPS + NAMES_UNANSWERED_MAX);
  });

  test("uses the link-layer address known to this machine", async () => {
    const probes = new FakeProbes();
    probes.addDevice("10.0.0.1");
    probes.macs.set("10.0.0.1", "00:00:5e:00:53:01");
    const { run, commands } = newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"] } });
    await run();
    expect(commands[0]?.input.sightings).toMatchObject([{ mac_address: "00:00:5e:00:53:01" }]);
  });
});

describe("the probes of a scan", () => {
  const everywhere = {
    hosts: {
      a: ["10.0.0.1"],
      b: ["10.0.0.2", "192.0.2.1"],
      c: ["172.16.0.9"],
      d: ["10.8.0.1"],
      e: ["255.255.255.255", "0.0.0.0", "224.0.0.5", "ff02::1"],
    },
    subnets: [
      "10.0.0.0/28",
      { cidr: "10.0.0.8/30", subnet_type: "Remote" as const },
      { cidr: "172.16.0.0/24", subnet_type: "Internet" as const },
      "2001:db8::/126",
      "10.8.0.0/14",
    ],
  };
  const lldp = [
    ..."192.0.2.1 172.16.0.9 224.0.0.9 255.255.255.255 0.0.0.0 10.0.0.9".split(" "),
    ..."10.0.0.15 10.11.0.1 10.12.0.1 2001:db8::2 2001:db8::4 127.0.0.1".split(" "),
  ].map((mgmt_addr) => ({ mgmt_addr }));
  const allowed = new Set([
    ...[1, 2, 3, 4, 5, 6, 7, 12, 13, 14].map((last) => `10.0.0.${last}`),
    ..."2001:db8::1 2001:db8::2 2001:db8::3 10.8.0.1 10.11.0.1 192.0.2.77".split(" "),
  ]);

  test.each(["sweep", "snmp", "full"] as const)(
    "go only to subnets and initial addresses, for the kind %s",
    async (kind) => {
      const probes = new FakeProbes(...allowed);
      for (const address of allowed) probes.addDevice(address, { interfaces: [{ if_index: 1, lldp }], addresses: [] });
      const initial = { credential_id: "bootstrap", ip_addresses: ["192.0.2.77", "224.0.0.77"] };
      await newRun({ ...everywhere, kind, probes, target_ips: kind === "sweep" ? [] : [initial] }).run();
      const reached = [...probes.swept, ...queriedAddresses(probes)];
      expect(reached.length).toBeGreaterThan(3);
      expect(reached.filter((address) => !allowed.has(address))).toEqual([]);
      // Known addresses of a subnet are scanned even if it is too large to sweep.
      const expected = kind === "snmp" ? ["10.11.0.1", "2001:db8::2"] : ["10.0.0.14", "2001:db8::3"];
      expect(reached).toEqual(expect.arrayContaining(["10.8.0.1", ...expected]));
    },
  );

  test("go only to its targets, if it has any", async () => {
    for (const kind of ["sweep", "snmp", "full"] as const) {
      const probes = new FakeProbes();
      const targets = ["10.0.0.4/30", "10.0.0.1", "2001:db8::1"];
      const expected = new Set(["10.0.0.1", "10.0.0.5", "10.0.0.6", "2001:db8::1"]);
      for (const address of expected) probes.alive.set(address, {});
      for (const address of expected)
        probes.addDevice(address, { interfaces: [{ if_index: 1, lldp: [...lldp, { mgmt_addr: "10.0.0.2" }] }] });
      await newRun({ ...everywhere, kind, probes, targets }).run();
      expect(new Set([...probes.swept, ...queriedAddresses(probes)])).toEqual(expected);
    }
  });
});

describe("the end of a scan", () => {
  test("resolves links of its records, and then marks stale ones, in batches", async () => {
    const cutoffs: number[] = [];
    const batches = ["1", "2"].map((if_entry_id) => [{ if_entry_id, fingerprint: "", neighbor: null, more: [] }]);
    const unseen = Array.from({ length: 2_500 }, (_, index) => ({ entity: "host", id: String(index) }));
    const { run, commands, clock } = newRun({
      kind: "snmp",
      hosts: { core: ["10.0.0.1"] },
      staleAfterHours: 24,
      parts: {
        links: { find: () => batches.map((links) => ({ links })) },
        unseen: (networkN, cutoff) => {
          expect(networkN).toBe(7);
          cutoffs.push(cutoff);
          return unseen;
        },
      },
    });
    await run();
    const written = commands.filter(({ command }) => command !== "discovery.note");
    expect(written.map(({ command }) => command)).toEqual(
      ["links", "links", "vlans", "stale", "stale"].map((name) => `discovery.${name}`),
    );
    expect(written.slice(0, 2).map(({ input }) => input)).toEqual(
      batches.map((links) => ({ scan_id: "s", network_id: "n", links })),
    );
    expect(written.slice(3).map(({ input }) => (input.records as unknown[]).length)).toEqual([2_000, 500]);
    expect(cutoffs).toEqual([clock.now() - 24 * 3_600_000]);
  });

  test("is a failure with a message for an unknown network or targets", async () => {
    for (const [options, problem] of [
      [{ parts: { network: null } }, "the network was deleted"],
      [{ targets: ["10.0.0.0/8"] }, expect.stringContaining("the target 10.0.0.0/8 is larger than /16")],
    ] as const)
      expect((await newRun(options as RunOptions).run()).end).toMatchObject({ status: "Failed", problem });
  });

  test("is a failure on write errors, with the outcome so far", async () => {
    const probes = new FakeProbes("10.0.0.1", "10.0.0.2");
    const problem = "The disk is full or failing: nothing was written.";
    const { run } = newRun({ kind: "sweep", probes, respond: () => new DomainError("storage_full", problem) });
    const end = { status: "Failed", problem, outcome: { hosts: { found: 2 } } };
    expect(await run()).toMatchObject({ end, cause: null });
  });

  test("is a failure without details on an internal error, which is logged", async () => {
    const probes = new FakeProbes();
    probes.sweep = async () => {
      throw new Error("a secret");
    };
    const { end, cause } = await newRun({ probes }).run();
    expect(end).toMatchObject({ status: "Failed", problem: "something went wrong inside the appliance; see its log" });
    expect(JSON.stringify(end)).not.toContain("a secret");
    expect(cause).toContain("a secret");
  });

  test("sums up the commands' outcomes, with each finding once", async () => {
    const probes = new FakeProbes("10.0.0.1");
    probes.addDevice("10.0.0.1");
    const counts = { created: 1, updated: 2, deleted: 3 };
    const named = { entity: "host", id: "h", label: "h", records: { ports: counts } } as const;
    const finding: Finding = { type: "Created", reason: "responded to SNMP", ...named };
    const changed: Finding = { type: "Changed", reason: "answered Icmp", ...named };
    const { run, findings, notes } = newRun({
      probes,
      respond: (command) => ({
        records: { hosts: counts },
        findings: [command === "discovery.devices" ? finding : changed],
        hosts: [],
      }),
    });
    expect((await run()).end.outcome).toMatchObject({
      records: { hosts: { created: 4, updated: 8, deleted: 12 } },
      findings: { Created: 1 },
    });
    expect(findings()).toEqual([{ ...finding, records: { ports: { created: 4, updated: 8, deleted: 12 } } }]);
    expect(notes().map(({ ordinal }) => ordinal)).toEqual([0]);
  });
});

describe("a stopped scan", () => {
  test.each([
    ["Cancelled", null],
    ["Interrupted", "the appliance was stopped"],
  ] as const)("is %s immediately, in any phase, and keeps its writes", async (reason, problem) => {
    for (const stopPoint of ["10.0.0.6", "querying"]) {
      const probes = new FakeProbes(...ALL_ADDRESSES);
      const held = Promise.withResolvers<void>();
      probes.hold = async (address, signal) => {
        const isQuerying = stopPoint === "querying" && probes.swept.length === 14 && probes.queries.length > 0;
        if (address !== stopPoint && !isQuerying) return;
        held.resolve();
        await untilAborted(signal);
      };
      const { run, stop, timers } = newRun({ kind: stopPoint === "querying" ? "full" : "sweep", probes });
      const running = run();
      await held.promise;
      stop(reason);
      const { end, cause } = await running;
      const found = stopPoint === "querying" ? 14 : 5;
      expect(end).toMatchObject({ status: reason, problem, outcome: { hosts: { found } } });
      expect(cause).toBeNull();
      expect(timers.count).toBe(0);
    }
  });

  test("does not wait for an unresponsive probe", async () => {
    const probes = new FakeProbes();
    const held = Promise.withResolvers<void>();
    probes.hold = async () => {
      held.resolve();
      await new Promise<void>(() => {});
    };
    const { run, stop, timers } = newRun({ kind: "sweep", probes });
    const running = run();
    await held.promise;
    stop("Cancelled");
    await nextTurn();
    timers.pass(STOP_MS);
    expect((await running).end.status).toBe("Cancelled");
  });

  test("writes no pending data, and nothing afterwards", async () => {
    const probes = new FakeProbes(...ALL_ADDRESSES);
    const held = Promise.withResolvers<void>();
    probes.hold = async (address, signal) => {
      if (address !== "10.0.0.9") return;
      held.resolve();
      await untilAborted(signal);
    };
    const { run, stop, commands } = newRun({ kind: "sweep", probes });
    const running = run();
    await held.promise;
    stop("Cancelled");
    await running;
    expect(commands.map(({ command }) => command)).toEqual(["discovery.note"]);
  });
});

describe("scan progress", () => {
  test("is reported a few times a second at most, and at the end", async () => {
    const probes = new FakeProbes();
    const gates = new Map([5, 10].map((last) => [`10.0.0.${last}`, Promise.withResolvers<void>()]));
    const reached = new Map([...gates.keys()].map((address) => [address, Promise.withResolvers<void>()]));
    probes.hold = async (address) => {
      reached.get(address)?.resolve();
      await gates.get(address)?.promise;
    };
    const { run, reports, timers } = newRun({ kind: "sweep", probes });
    const running = run();
    await reached.get("10.0.0.5")?.promise;
    expect(reports.map(({ phase }) => phase)).toEqual(["sweep"]);
    timers.pass(PROGRESS_INTERVAL_MS);
    expect(reports).toHaveLength(2);
    expect(reports[1]).toMatchObject({ phase: "sweep", addresses_total: 14, addresses_done: 4, seconds_left: null });
    gates.get("10.0.0.5")?.resolve();
    await reached.get("10.0.0.10")?.promise;
    for (let count = 0; count < 20; count += 1) timers.pass(PROGRESS_INTERVAL_MS);
    expect(reports).toHaveLength(22);
    // 9 addresses took 5.25 s: the other 5 take 3 s.
    expect(reports.at(-1)).toMatchObject({ addresses_done: 9, seconds_left: 3 });
    gates.get("10.0.0.10")?.resolve();
    await running;
    const reportCount = reports.length;
    timers.pass(60_000);
    expect(reports).toHaveLength(reportCount);
    expect(timers.count).toBe(0);
  });

  test("is stored periodically with the outcome, so that it survives", async () => {
    const probes = new FakeProbes();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    probes.hold = async (address) => {
      if (address !== "10.0.0.5") return;
      reached.resolve();
      await gate;
    };
    const remote = { cidr: "10.1.0.0/24", subnet_type: "Remote" } as const;
    const { run, notes, timers } = newRun({ kind: "sweep", probes, subnets: ["10.0.0.0/28", remote] });
    const running = run();
    await reached.promise;
    timers.pass(SAVE_INTERVAL_MS);
    await nextTurn();
    const findings = [{ type: "Skipped" as const, label: "10.1.0.0/24" }];
    const progress = { phase: "sweep" as const, addresses_done: 4 };
    expect(notes()).toMatchObject([{ id: "s", ordinal: 0, findings, progress }]);
    timers.pass(SAVE_INTERVAL_MS);
    await nextTurn();
    expect(notes()).toHaveLength(1);
    open();
    await running;
    expect(notes()).toHaveLength(2);
    expect(notes()[1]).toMatchObject({ ordinal: 1, findings: [], progress: { phase: "done" } });
  });
});
