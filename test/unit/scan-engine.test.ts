import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import type { CommandOutcome } from "../../src/db/writing/transaction.ts";
import type { ScanNote } from "../../src/discovery/scans/commands.ts";
import { ADDRESSES_OF_HOST_MAX } from "../../src/discovery/scans/device-polling.ts";
import { type EngineParts, NAMES_UNANSWERED_MAX, NOTE_MS, runScan } from "../../src/discovery/scans/engine.ts";
import type { Assignment, KnownAddress, KnownHost, KnownNetwork } from "../../src/discovery/scans/known-network.ts";
import { DEVICES_AT_A_TIME, NAMES_AT_A_TIME } from "../../src/discovery/scans/probes.ts";
import { PROGRESS_INTERVAL_MS, type ScanProgress } from "../../src/discovery/scans/scan.ts";
import { STOP_MS } from "../../src/discovery/scans/scan-ending.ts";
import type { ScanOrder, StopReason } from "../../src/discovery/scans/scan-thread.ts";
import type { KnownSubnet } from "../../src/discovery/scans/scope.ts";
import type { AddressSighting, DeviceSighting, Finding, Recorded } from "../../src/discovery/sightings.ts";
import { AcceptingSubnets } from "../../src/resources/subnets/accepting.ts";
import { TestClock, TestTimers } from "../support/appliance/appliance.ts";
import { FakeProbes } from "../support/injected/fake-probes.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const NOTHING: Recorded = { records: {}, findings: [], hosts: [] };

interface Known {
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
}: Known): KnownNetwork {
  const known = Object.entries(hosts).map(
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
  for (const each of known.flatMap(({ addresses }) => addresses))
    byAddress.set(each.ip_address, [...(byAddress.get(each.ip_address) ?? []), each]);
  return {
    n: 7,
    staleAfterHours: staleAfterHours ?? null,
    subnets: subnets.map((each) => ({
      id: `subnet ${typeof each === "string" ? each : each.cidr}`,
      accepts_credentials: true,
      ...(typeof each === "string" ? { cidr: each, subnet_type: "Lan" as const } : each),
    })),
    hosts: new Map(known.map((host) => [host.id, host])),
    byAddress,
    assignments,
    remembered: new Map(
      Object.entries(remembered).map(([address, credential_id]) => [address, { credential_id, key_extension: null }]),
    ),
  };
}

interface Setting
  extends Known,
    Partial<Pick<ScanOrder, "kind" | "targets" | "target_ips" | "allow_large" | "are_targets_permitted">> {
  readonly probes?: FakeProbes;
  readonly parts?: Partial<EngineParts>;
  /** Answer of the writer. */
  readonly answer?: (command: string, input: Record<string, unknown>) => Recorded | Error;
}

/** A scan over a simulated network, without a store. */
function newRun(setting: Setting) {
  const probes = setting.probes ?? new FakeProbes();
  const clock = new TestClock();
  const timers = new TestTimers(clock);
  const controller = new AbortController();
  const commands: Array<{ command: string; input: Record<string, unknown> }> = [];
  const reports: ScanProgress[] = [];
  const order: ScanOrder = {
    id: "s",
    network_id: "n",
    organization_id: "o",
    kind: setting.kind ?? "full",
    targets: setting.targets ?? null,
    commit: true,
    allow_large: setting.allow_large ?? false,
    target_ips: setting.target_ips ?? [],
    dispatch_sequence: null,
    are_targets_permitted: setting.are_targets_permitted ?? (setting.targets ?? null) !== null,
  };
  const network = networkOf(setting);
  const run = () =>
    runScan(
      order,
      {
        write: async <T>(command: string, bytes: Uint8Array): Promise<CommandOutcome<T>> => {
          const input = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes)));
          commands.push({ command, input });
          const result = command === "discovery.note" ? NOTHING : (setting.answer?.(command, input) ?? NOTHING);
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
        standing: () => ({
          at: () => ({ ...network, subnets: new AcceptingSubnets(network.subnets) }),
          isNamed: () => true,
          untilCommit: (_name, find) => find(),
        }),
        servedBefore: () => null,
        macsBefore: () => [],
        dryRun: null,
        links: { find: () => [] },
        unseen: () => [],
        clock,
        timers,
        ...setting.parts,
      },
    );
  const of = <T>(command: string, field: string) =>
    commands.filter((each) => each.command === command).flatMap(({ input }) => input[field] as T[]);
  return {
    probes,
    clock,
    timers,
    commands,
    reports,
    run,
    stop: (reason: StopReason) => controller.abort(reason),
    devices: () => of<DeviceSighting>("discovery.devices", "sightings").map(({ ip_address }) => ip_address),
    addresses: () => of<AddressSighting>("discovery.addresses", "sightings").map(({ ip_address }) => ip_address),
    findings: () => of<Finding>("discovery.note", "findings"),
    notes: () =>
      commands.flatMap(({ command, input }) => (command === "discovery.note" ? [input as unknown as ScanNote] : [])),
  };
}

/** Addresses of 10.0.0.0/28. */
const ALL = Array.from({ length: 14 }, (_, place) => `10.0.0.${place + 1}`);
const asked = (probes: FakeProbes) => probes.asked.map(({ address }) => address);

describe("a sweep", () => {
  test("covers the subnets' addresses, and passes on responding ones, without SNMP", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.99");
    const { run, addresses } = newRun({ kind: "sweep", probes });
    const { end } = await run();
    expect(probes.swept).toEqual(ALL);
    expect(addresses()).toEqual(["10.0.0.3", "10.0.0.4"]);
    expect(probes.asked).toEqual([]);
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
      { type: "Unreached", entity: "host", id: "gone", label: "gone", reason: "no answer from 10.0.0.5, 10.0.0.6" },
    ]);
    const named = newRun({ kind: "sweep", targets: ["10.0.0.0/30", "10.0.0.9"] });
    await named.run();
    expect(named.findings()).toEqual([
      { type: "Unreached", entity: null, id: null, label: "10.0.0.9", reason: "no answer" },
    ]);
  });

  test("accepts only answers to its own probes", async () => {
    const probes = new FakeProbes();
    probes.sweep = async (addresses, _signal, events) => {
      await events.answer({ ip_address: "192.0.2.1", mac_address: null, answered: ["Icmp"] });
      for (const _twice of [1, 2])
        await events.answer({ ip_address: addresses[0] as string, mac_address: null, answered: ["Icmp"] });
      return { means: "" };
    };
    const { run, addresses } = newRun({ kind: "sweep", probes });
    await run();
    expect(addresses()).toEqual(["10.0.0.1"]);
  });
});

describe("a full scan", () => {
  test("reads responding devices, and writes a device before its address", async () => {
    const probes = new FakeProbes();
    for (const each of ["10.0.0.3", "10.0.0.4"])
      probes.alive.set(each, { mac_address: `00:00:5e:00:53:0${each.at(-1)}`, hostname: `h${each.at(-1)}` });
    probes.answers("10.0.0.3");
    const { run, commands } = newRun({ probes });
    const { end } = await run();
    expect(asked(probes)).toEqual(["10.0.0.3", "10.0.0.4"]);
    expect(commands.map(({ command }) => command).filter((each) => each !== "discovery.note")).toEqual([
      "discovery.devices",
      "discovery.addresses",
    ]);
    expect(commands[0]?.input.sightings).toMatchObject([
      {
        ip_address: "10.0.0.3",
        mac_address: "00:00:5e:00:53:03",
        hostname: "h3",
        credential: { credential_id: "public" },
      },
    ]);
    expect(commands[1]?.input.sightings).toHaveLength(2);
    expect(end.outcome).toMatchObject({ hosts: { found: 2, devices: 1, unreached: 0 } });
    expect(end.progress).toMatchObject({ devices_asked: 2, devices_answered: 1, errors: { no_answer: 1 } });
  });

  test("reads a known host once, whatever its addresses, preferring the last responding one", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5");
    probes.answers("10.0.0.5");
    const { run, addresses } = newRun({
      probes,
      hosts: { core: ["10.0.0.3", "10.0.0.4", "10.0.0.5"] },
      remembered: { "10.0.0.5": "public" },
    });
    await run();
    expect(asked(probes)).toEqual(["10.0.0.5"]);
    expect(addresses()).toEqual(["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  });

  test("does not read a device again at its other addresses, but another host there", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5");
    const own = ["10.0.0.3", "10.0.0.4", "10.0.0.5"].map((ip_address) => ({
      ip_address,
      prefix_length: 28,
      if_index: 1,
    }));
    probes.answers("10.0.0.3", { addresses: own });
    const ended: string[] = [];
    // The others are running when the first one answers.
    probes.hold = async (address, signal) => {
      if (probes.asked.length === 0 || address === "10.0.0.3") return;
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => {
        ended.push(address);
        resolve();
      });
      if (address === "10.0.0.5") resolve();
      await promise;
    };
    const { run, addresses, findings } = newRun({ probes, hosts: { other: ["10.0.0.5"] } });
    const { end } = await run();
    expect(ended).toEqual(["10.0.0.4"]);
    expect(asked(probes).toSorted()).toEqual(["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
    expect(addresses()).toHaveLength(3);
    expect(findings()).toEqual([]);
    expect(end.progress?.errors).toEqual({ no_answer: 1 });
  });

  test("reads a device's address if another station was seen there, unless routers share it", async () => {
    const probes = new FakeProbes();
    const seen = ["00:00:5e:00:53:01", "00:00:5e:00:53:02", "00:00:5e:00:53:03", "00:00:5e:00:01:07"];
    for (const [place, mac_address] of seen.entries()) probes.alive.set(`10.0.0.${place + 1}`, { mac_address });
    const addresses = [1, 2, 3, 4].map((last) => ({ ip_address: `10.0.0.${last}`, prefix_length: 28, if_index: 1 }));
    probes.answers("10.0.0.1", { addresses, interfaces: [{ if_index: 1, mac_address: seen[2] as string }] });
    const ended: string[] = [];
    const { promise: both, resolve } = Promise.withResolvers<void>();
    probes.hold = async (address, signal) => {
      if (probes.asked.length === 0 || address === "10.0.0.1") return;
      signal.addEventListener("abort", () => {
        if (ended.push(address) === 2) resolve();
      });
      await both;
    };
    await newRun({ probes }).run();
    expect(ended.toSorted()).toEqual(["10.0.0.3", "10.0.0.4"]);
  });

  test("reads silent hosts with former SNMP answers or own credentials, and no others", async () => {
    const probes = new FakeProbes();
    probes.answers("10.0.0.3");
    probes.answers("10.0.0.5", {}, "own");
    const { run, devices, findings } = newRun({
      probes,
      hosts: { before: ["10.0.0.3"], never: ["10.0.0.4"], own: ["10.0.0.5"], lost: ["10.0.0.6"] },
      assignments: [
        BROADCAST,
        { credential_id: "own", host_id: "own", ip_address_ids: null, covered: new Set(["10.0.0.5"]) },
      ],
      remembered: { "10.0.0.3": "public", "10.0.0.6": "public" },
    });
    await run();
    expect(devices().toSorted()).toEqual(["10.0.0.3", "10.0.0.5"]);
    expect(
      findings()
        .map(({ label, reason }) => `${label}: ${reason}`)
        .toSorted(),
    ).toEqual(["lost: 10.0.0.6: no answer", "never: no answer from 10.0.0.4"]);
  });

  test("distinguishes failures, and reports silence only where significant", async () => {
    const probes = new FakeProbes("10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6");
    probes.refusing.set("10.0.0.3", "wrong_password");
    probes.refusing.set("10.0.0.4", "port_closed");
    probes.refusing.set("10.0.0.5", "wrong_user");
    const { run, findings } = newRun({
      probes,
      hosts: { phone: ["10.0.0.4"], core: ["10.0.0.5"], printer: ["10.0.0.6"] },
    });
    const { end } = await run();
    expect(findings()).toEqual([
      { type: "Unreached", entity: null, id: null, label: "10.0.0.3", reason: "wrong password" },
      { type: "Unreached", entity: "host", id: "core", label: "core", reason: "10.0.0.5: wrong user" },
    ]);
    expect(end.progress?.errors).toEqual({ wrong_password: 1, port_closed: 1, wrong_user: 1, no_answer: 1 });
  });

  test("reports missing credentials, and sweeps all the same", async () => {
    const probes = new FakeProbes("10.0.0.3");
    const { run, addresses } = newRun({ probes, assignments: [] });
    const { end } = await run();
    expect(addresses()).toEqual(["10.0.0.3"]);
    expect(end).toMatchObject({
      status: "Completed",
      outcome: { problem: "no credential is assigned in this network: no device was read by SNMP" },
    });
  });
});

describe("an SNMP scan", () => {
  test("without targets reads known hosts in the subnets, a few addresses each, without a sweep", async () => {
    const probes = new FakeProbes();
    const many = Array.from({ length: 12 }, (_, place) => `10.0.0.${place + 2}`);
    const { run, findings } = newRun({
      kind: "snmp",
      probes,
      hosts: { near: ["10.0.0.1"], far: ["192.0.2.1"], many, large: ["10.9.0.1"] },
      subnets: ["10.0.0.0/28", "10.9.0.0/15".replace("9", "8")],
    });
    await run();
    expect(probes.swept).toEqual([]);
    expect(asked(probes).toSorted()).toEqual(
      ["10.0.0.1", ...many.slice(0, ADDRESSES_OF_HOST_MAX), "10.9.0.1"].toSorted(),
    );
    expect(
      findings()
        .filter(({ type }) => type === "Unreached")
        .map(({ label }) => label)
        .toSorted(),
    ).toEqual(["large", "many", "near"]);
  });

  test("with targets reads each address, a known host once, and reports silence of named and known ones only", async () => {
    const probes = new FakeProbes();
    const { run, findings } = newRun({
      kind: "snmp",
      probes,
      targets: ["10.5.0.0/29", "10.6.0.1"],
      hosts: { core: ["10.5.0.2", "10.5.0.3", "10.7.0.1"] },
    });
    const { end } = await run();
    expect(asked(probes).toSorted()).toEqual(
      "10.5.0.1 10.5.0.2 10.5.0.3 10.5.0.4 10.5.0.5 10.5.0.6 10.6.0.1".split(" "),
    );
    expect(
      findings()
        .map(({ id, label, reason }) => `${id} ${label}, ${reason}`)
        .toSorted(),
    ).toEqual(["core core, 10.5.0.2: no answer; 10.5.0.3: no answer", "null 10.6.0.1, no answer"]);
    expect(end.progress).toMatchObject({
      addresses_total: 7,
      addresses_done: 7,
      devices_asked: 7,
      errors: { no_answer: 7 },
    });
  });

  test("has limited concurrency", async () => {
    const probes = new FakeProbes();
    probes.hold = turn;
    await newRun({ kind: "snmp", probes, targets: ["10.5.0.0/24"] }).run();
    expect(probes.most).toBe(DEVICES_AT_A_TIME);
    expect(probes.asked).toHaveLength(254);
  });

  test("starts with initial addresses of credentials, even outside the subnets, but never non-host ones", async () => {
    const probes = new FakeProbes();
    probes.answers("192.0.2.1", {}, "bootstrap");
    const { run, findings, devices } = newRun({
      kind: "snmp",
      probes,
      hosts: { near: ["10.0.0.1"] },
      target_ips: [{ credential_id: "bootstrap", ip_addresses: ["192.0.2.1", "192.0.2.2", "224.0.0.1"] }],
    });
    await run();
    expect(asked(probes)).toEqual(["192.0.2.1", "192.0.2.2", "10.0.0.1"]);
    expect(probes.asked[0]?.credentials.map(({ credential_id }) => credential_id)).toEqual(["bootstrap"]);
    expect(devices()).toEqual(["192.0.2.1"]);
    expect(findings().map(({ type, label }) => `${type} ${label}`)).toEqual([
      "Skipped 224.0.0.1",
      "Unreached 192.0.2.2",
      "Unreached near",
    ]);
  });

  test("follows neighbors by address and name, within the subnets only", async () => {
    const probes = new FakeProbes();
    const lldp = (mgmt_addr?: string, sys_name?: string) => ({
      ...(mgmt_addr === undefined ? {} : { mgmt_addr }),
      ...(sys_name === undefined ? {} : { sys_name }),
    });
    probes.answers("10.0.0.1", {
      interfaces: [
        {
          if_index: 1,
          lldp: [lldp("10.0.0.2"), lldp("192.0.2.9"), lldp(undefined, "edge-7"), lldp(undefined, "Known")],
          cdp: [{ address: "10.0.0.3", device_id: "ignored" }, { device_id: "not a name!" }],
        },
      ],
    });
    probes.answers("10.0.0.2", { interfaces: [{ if_index: 1, lldp: [lldp("10.0.0.1"), lldp("10.0.0.4")] }] });
    probes.answers("10.0.0.4");
    probes.answers("10.0.0.7", { sys_name: "edge-7" });
    probes.names.set("edge-7", ["192.0.2.7", "10.0.0.7"]);
    const { run, devices } = newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"], Known: [] } });
    await run();
    expect(asked(probes)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.7", "10.0.0.4"]);
    expect(probes.looked).toEqual(["edge-7"]);
    expect(devices()).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.0.4"]);
  });

  test("stops name lookups without an answering server", async () => {
    const probes = new FakeProbes();
    probes.isWithoutResolver = true;
    probes.answers("10.0.0.1", {
      interfaces: Array.from({ length: 200 }, (_, index) => ({
        if_index: index + 1,
        lldp: [{ sys_name: `edge-${index}` }],
      })),
    });
    await newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"] } }).run();
    expect(probes.looked.length).toBeLessThanOrEqual(NAMES_AT_A_TIME + NAMES_UNANSWERED_MAX);
  });

  test("uses the link-layer address known to this machine", async () => {
    const probes = new FakeProbes();
    probes.answers("10.0.0.1");
    probes.macs.set("10.0.0.1", "00:00:5e:00:53:01");
    const { run, commands } = newRun({ kind: "snmp", probes, hosts: { core: ["10.0.0.1"] } });
    await run();
    expect(commands[0]?.input.sightings).toMatchObject([{ mac_address: "00:00:5e:00:53:01" }]);
  });
});

describe("a scan probes only", () => {
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
    "192.0.2.1",
    "172.16.0.9",
    "224.0.0.9",
    "255.255.255.255",
    "0.0.0.0",
    "10.0.0.9",
    "10.0.0.15",
    "10.11.0.1",
    "10.12.0.1",
    "2001:db8::2",
    "2001:db8::4",
    "127.0.0.1",
  ].map((mgmt_addr) => ({ mgmt_addr }));
  const allowed = new Set([
    ...[1, 2, 3, 4, 5, 6, 7, 12, 13, 14].map((last) => `10.0.0.${last}`),
    "2001:db8::1",
    "2001:db8::2",
    "2001:db8::3",
    "10.8.0.1",
    "10.11.0.1",
    "192.0.2.77",
  ]);

  test.each(["sweep", "snmp", "full"] as const)("subnets and initial addresses, for the kind %s", async (kind) => {
    const probes = new FakeProbes(...allowed);
    for (const each of allowed) probes.answers(each, { interfaces: [{ if_index: 1, lldp }], addresses: [] });
    await newRun({
      ...everywhere,
      kind,
      probes,
      target_ips: kind === "sweep" ? [] : [{ credential_id: "bootstrap", ip_addresses: ["192.0.2.77", "224.0.0.77"] }],
    }).run();
    const reached = [...probes.swept, ...asked(probes)];
    expect(reached.length).toBeGreaterThan(3);
    expect(reached.filter((address) => !allowed.has(address))).toEqual([]);
    // Known addresses of a subnet are scanned even if it is too large to sweep.
    for (const each of [
      "10.8.0.1",
      ...(["sweep", "full"].includes(kind) ? ["10.0.0.14", "2001:db8::3"] : ["10.11.0.1", "2001:db8::2"]),
    ])
      expect(reached).toContain(each);
  });

  test("its targets, if it has any", async () => {
    for (const kind of ["sweep", "snmp", "full"] as const) {
      const probes = new FakeProbes();
      const targets = ["10.0.0.4/30", "10.0.0.1", "2001:db8::1"];
      const wanted = new Set(["10.0.0.1", "10.0.0.5", "10.0.0.6", "2001:db8::1"]);
      for (const each of wanted) probes.alive.set(each, {});
      for (const each of wanted)
        probes.answers(each, { interfaces: [{ if_index: 1, lldp: [...lldp, { mgmt_addr: "10.0.0.2" }] }] });
      await newRun({ ...everywhere, kind, probes, targets }).run();
      expect(new Set([...probes.swept, ...asked(probes)])).toEqual(wanted);
    }
  });
});

describe("the end of a scan", () => {
  test("resolves links of its records, and then marks stale ones, in batches", async () => {
    const cutoffs: number[] = [];
    const batches = ["1", "2"].map((if_entry_id) => [{ if_entry_id, fingerprint: "", neighbor: null, more: [] }]);
    const unseen = Array.from({ length: 2_500 }, (_, place) => ({ entity: "host", id: String(place) }));
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
    const done = commands.filter(({ command }) => command !== "discovery.note");
    expect(done.map(({ command }) => command)).toEqual([
      "discovery.links",
      "discovery.links",
      "discovery.stale",
      "discovery.stale",
    ]);
    expect(done.slice(0, 2).map(({ input }) => input)).toEqual(
      batches.map((links) => ({ scan_id: "s", network_id: "n", links })),
    );
    expect(done.slice(2).map(({ input }) => (input.records as unknown[]).length)).toEqual([2_000, 500]);
    expect(cutoffs).toEqual([clock.now() - 24 * 3_600_000]);
  });

  test("is a failure with a message for an unknown network or targets", async () => {
    expect((await newRun({ parts: { network: null } }).run()).end).toMatchObject({
      status: "Failed",
      problem: "the network was deleted",
    });
    expect((await newRun({ targets: ["10.0.0.0/8"] }).run()).end).toMatchObject({
      status: "Failed",
      problem: expect.stringContaining("the target 10.0.0.0/8 is larger than /16"),
    });
  });

  test("is a failure on write errors, with the outcome so far", async () => {
    const probes = new FakeProbes("10.0.0.1", "10.0.0.2");
    const { run } = newRun({
      kind: "sweep",
      probes,
      answer: () => new DomainError("storage_full", "The disk is full or fails: nothing was written."),
    });
    expect(await run()).toMatchObject({
      end: {
        status: "Failed",
        problem: "The disk is full or fails: nothing was written.",
        outcome: { hosts: { found: 2 } },
      },
      cause: null,
    });
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
    probes.answers("10.0.0.1");
    const counts = { created: 1, updated: 2, deleted: 3 };
    const finding: Finding = {
      type: "Created",
      entity: "host",
      id: "h",
      label: "h",
      reason: "answered SNMP",
      records: { ports: counts },
    };
    const { run, findings, notes } = newRun({
      probes,
      answer: (command) => ({
        records: { hosts: counts },
        findings: [
          command === "discovery.devices" ? finding : { ...finding, type: "Changed", reason: "answered Icmp" },
        ],
        hosts: [],
      }),
    });
    expect((await run()).end.outcome).toMatchObject({
      records: { hosts: { created: 2, updated: 4, deleted: 6 } },
      findings: { Created: 1 },
    });
    expect(findings()).toEqual([{ ...finding, records: { ports: { created: 2, updated: 4, deleted: 6 } } }]);
    expect(notes().map(({ ordinal }) => ordinal)).toEqual([0]);
  });
});

describe("a stopped scan", () => {
  test.each([
    ["Cancelled", null],
    ["Interrupted", "the appliance was stopped"],
  ] as const)("is %s at once, in any phase, and keeps its writes", async (reason, problem) => {
    for (const place of ["10.0.0.6", "asking"]) {
      const probes = new FakeProbes(...ALL);
      const held = Promise.withResolvers<void>();
      probes.hold = async (address, signal) => {
        if (address !== place && !(place === "asking" && probes.swept.length === 14 && probes.asked.length > 0)) return;
        held.resolve();
        if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      };
      const { run, stop, timers } = newRun({ kind: place === "asking" ? "full" : "sweep", probes });
      const running = run();
      await held.promise;
      stop(reason);
      const { end, cause } = await running;
      expect(end).toMatchObject({
        status: reason,
        problem,
        outcome: { hosts: { found: place === "asking" ? 14 : 5 } },
      });
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
    await turn();
    timers.pass(STOP_MS);
    expect((await running).end.status).toBe("Cancelled");
  });

  test("writes nothing pending, and nothing afterwards", async () => {
    const probes = new FakeProbes(...ALL);
    const held = Promise.withResolvers<void>();
    probes.hold = async (address, signal) => {
      if (address !== "10.0.0.9") return;
      held.resolve();
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
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
    const at = new Map([...gates.keys()].map((address) => [address, Promise.withResolvers<void>()]));
    probes.hold = async (address) => {
      at.get(address)?.resolve();
      await gates.get(address)?.promise;
    };
    const { run, reports, timers } = newRun({ kind: "sweep", probes });
    const running = run();
    await at.get("10.0.0.5")?.promise;
    expect(reports.map(({ phase }) => phase)).toEqual(["sweep"]);
    timers.pass(PROGRESS_INTERVAL_MS);
    expect(reports).toHaveLength(2);
    expect(reports[1]).toMatchObject({ phase: "sweep", addresses_total: 14, addresses_done: 4, seconds_left: null });
    gates.get("10.0.0.5")?.resolve();
    await at.get("10.0.0.10")?.promise;
    for (let each = 0; each < 20; each += 1) timers.pass(PROGRESS_INTERVAL_MS);
    expect(reports).toHaveLength(22);
    // 9 in 5.25 s: 5 more take 3.
    expect(reports.at(-1)).toMatchObject({ addresses_done: 9, seconds_left: 3 });
    gates.get("10.0.0.10")?.resolve();
    await running;
    const told = reports.length;
    timers.pass(60_000);
    expect(reports).toHaveLength(told);
    expect(timers.count).toBe(0);
  });

  test("is stored periodically with the outcome, so that it survives", async () => {
    const probes = new FakeProbes();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const at = Promise.withResolvers<void>();
    probes.hold = async (address) => {
      if (address !== "10.0.0.5") return;
      at.resolve();
      await gate;
    };
    const { run, notes, timers } = newRun({
      kind: "sweep",
      probes,
      subnets: ["10.0.0.0/28", { cidr: "10.1.0.0/24", subnet_type: "Remote" }],
    });
    const running = run();
    await at.promise;
    timers.pass(NOTE_MS);
    await turn();
    expect(notes()).toMatchObject([
      {
        id: "s",
        ordinal: 0,
        findings: [{ type: "Skipped", label: "10.1.0.0/24" }],
        progress: { phase: "sweep", addresses_done: 4 },
      },
    ]);
    timers.pass(NOTE_MS);
    await turn();
    expect(notes()).toHaveLength(1);
    open();
    await running;
    expect(notes()).toHaveLength(2);
    expect(notes()[1]).toMatchObject({ ordinal: 1, findings: [], progress: { phase: "done" } });
  });
});
