// Candidates from facts: edge or uplink, order, confidence, and the reasons given as evidence.

import { describe, expect, test } from "bun:test";
import type { FarEndRole } from "../../src/history/far-end.ts";
import {
  type AddressFact,
  type Facts,
  type HostFact,
  type Identity,
  type LinkFact,
  type LinkSource,
  type LocateTerm,
  majorityOf,
  type PortFact,
  type RecordRef,
  type Sighting,
  type Subject,
  type VlanFact,
} from "../../src/history/locate/facts.ts";
import {
  CANDIDATES_MAX,
  type Candidate,
  type EvidenceKind,
  FACTORS,
  type PresentLocation,
} from "../../src/history/locate/locate-schema.ts";
import { rank } from "../../src/history/locate/ranking.ts";
import { runSteps } from "../support/topology/steps.ts";

const MAC = "00:1b:21:00:00:07";
const SINCE = "2026-11-21T09:00:00.000Z";

const ref = (entity_type: RecordRef["entity_type"], name: string, valid_from = SINCE): RecordRef => ({
  entity_type,
  id: `${entity_type} ${name}`,
  name,
  valid_from,
});
const host = (name: string, isSwitch = false): HostFact => ({ ref: ref("host", name), hostname: null, isSwitch });
const vlan = (number: number): VlanFact => ({ ref: ref("vlan", `v${number}`), number });
const address = (ipAddress: string, subnetVlan: VlanFact | null = null): AddressFact => ({
  ref: ref("ip_address", ipAddress),
  ipAddress,
  subnet: { ref: ref("subnet", "s"), cidr: "10.0.0.0/8", vlan: subnetVlan },
});

const WEB = host("web");
const CORE = host("core", true);

interface PortOptions {
  readonly others?: number;
  readonly down?: boolean;
  readonly off?: boolean;
  readonly neighbor?: HostFact | null;
  readonly role?: FarEndRole;
  readonly source?: LinkSource;
  readonly announced?: string;
  readonly native?: VlanFact;
  readonly tagged?: readonly VlanFact[];
  /** Ports with many entries where other devices name the same remote end; true if they hold most of their table. */
  readonly namedAt?: Readonly<Record<string, boolean>>;
  readonly holdsMost?: boolean;
  readonly leadsTo?: readonly string[];
  readonly lag?: boolean;
  readonly since?: string;
}

function port(device: string, name: string, options: PortOptions = {}): PortFact {
  const { others = 0, neighbor, announced = null } = options;
  return {
    ref: ref("if_entry", `${device} ${name}`),
    ifIndex: 1,
    ifDescr: name,
    adminStatus: options.off === true ? "Down" : "Up",
    operStatus: options.down === true ? "Down" : "Up",
    device: host(device, true),
    members: [],
    forwards: others + 1,
    holdsMost: options.holdsMost ?? false,
    leadsTo: options.leadsTo?.map((name) => ref("host", name)) ?? null,
    isAggregate: options.lag ?? false,
    createdAt: options.since ?? SINCE,
    neighbor:
      neighbor === undefined && announced === null
        ? null
        : {
            source: options.source ?? "Lldp",
            host: neighbor ?? null,
            announced,
            role: options.role ?? (neighbor?.isSwitch === true ? "Network" : "Unknown"),
            alsoReportedAt: Object.entries(options.namedAt ?? {}).map(([deviceName, holdsMost]) => ({
              device: ref("host", deviceName),
              port: ref("if_entry", `${deviceName} up`),
              holdsMost,
            })),
          },
    nativeVlanId: options.native?.ref.id ?? null,
    vlanIds: options.tagged?.map((vlanFact) => vlanFact.ref.id) ?? [],
  };
}

function sightingOf(fact: PortFact, vlanNumbers: readonly (number | null)[] = [null], since = SINCE): Sighting {
  return {
    port: { ...fact, forwards: fact.forwards + vlanNumbers.length - 1 },
    units: [],
    entries: vlanNumbers.map((vlanNumber) => ({
      ref: { ...ref("fdb_entry", MAC, since), id: `${fact.ref.id} ${vlanNumber}` },
      vlanNumber,
    })),
  };
}

/** Sighting at a port given by its device and name, such as `a 1`. */
function atPort(location: string, options: PortOptions = {}): Sighting {
  const [device, name] = location.split(" ") as [string, string];
  return sightingOf(port(device, name, options));
}

const link = (fact: PortFact, source: LinkSource = "Lldp", isExact = true): LinkFact => ({
  device: fact.device,
  port: fact,
  source,
  isExact,
  reportedBy: fact.ref,
  announced: null,
});

const identity = (kind: "Address" | "AddressMac"): Identity => ({ kind, record: ref("ip_address", "10.0.0.7") });

function subject(fields: Partial<Subject> = {}): Subject {
  const known = { host: WEB, address: address("10.0.0.7"), mac: MAC, identities: [identity("AddressMac")] };
  return { networkId: "n1", ...known, sightings: [], links: [], ...fields };
}

function locate(
  subjects: readonly Subject[],
  term: LocateTerm = { by: "mac", value: MAC },
  vlans: readonly VlanFact[] = [],
): PresentLocation {
  const facts: Facts = {
    term,
    subjects,
    vlans: new Map(vlans.flatMap((fact) => [[fact.ref.id, fact] as const, [`n1/${fact.number}`, fact] as const])),
    isTruncated: false,
  };
  const location = runSteps(rank(facts));
  for (const candidate of location.candidates) {
    const product = candidate.evidence.reduce((all, { factor }) => all * factor, 1);
    expect(Math.abs(candidate.confidence - product)).toBeLessThanOrEqual(0.005 + 1e-9);
    const malformed = candidate.evidence.filter(({ sentence }) => !/^(?!.*(undefined|null))[^\n]+\.$/.test(sentence));
    expect(malformed).toEqual([]);
  }
  return location;
}

const summaries = ({ candidates }: PresentLocation) =>
  candidates.map(({ port, switch: device, confidence }) =>
    [port?.role ?? "-", port?.name ?? device?.name ?? "nowhere", confidence].join(" "),
  );
const kinds = (candidate: Candidate | undefined): EvidenceKind[] => candidate?.evidence.map(({ kind }) => kind) ?? [];

describe("edge and uplink", () => {
  /** Tests the candidates for one subject, as summaries. */
  const ranked = (title: string, expected: readonly string[], fields: Partial<Subject>) =>
    test(title, () => expect(summaries(locate([subject(fields)]))).toEqual([...expected]));

  ranked("a port that forwards to nothing else is the edge", ["Edge a 1 0.9"], { sightings: [atPort("a 1")] });
  ranked("a port whose neighbor has a forwarding table is an uplink, regardless of its entries", ["Edge a 1 0.75"], {
    sightings: [
      atPort("core 1", { neighbor: host("a", true) }),
      atPort("a 1", { others: 3 }),
      atPort("b 48", { others: 200, neighbor: CORE }),
    ],
  });
  ranked("without neighbors the port with the fewest entries is the edge", ["Edge a 1 0.9"], {
    sightings: [atPort("core 1", { others: 30 }), atPort("a 1"), atPort("b 48", { others: 90 })],
  });
  ranked("a small difference in entries lowers the confidence", ["Edge a 1 0.72"], {
    sightings: [atPort("core 1", { others: 2 }), atPort("a 1")],
  });
  ranked("similar entry counts keep both candidates", ["Edge a 1 0.45", "Edge b 2 0.45"], {
    sightings: [atPort("b 2", { others: 2 }), atPort("a 1", { others: 3 })],
  });
  ranked("up to 15 other entries at a port suggest an unmanaged switch", ["Edge a 1 0.75"], {
    sightings: [atPort("a 1", { others: 15 })],
  });
  ranked("more than 15 other entries at a port suggest an unknown device", ["Edge a 1 0.5"], {
    sightings: [atPort("a 1", { others: 16 })],
  });
  ranked("LLDP confirms a port with other entries", ["Edge a 1 0.98"], {
    sightings: [atPort("a 1", { others: 40, neighbor: WEB })],
    links: [link(port("a", "1"))],
  });
  ranked("if LLDP locates the device, ports without neighbors are uplinks even with fewer entries", ["Edge a 1 0.98"], {
    sightings: [atPort("a 1", { others: 5, neighbor: WEB }), atPort("core 1")],
    links: [link(port("a", "1"))],
  });
  ranked("CDP does not prove a direct link", ["Edge core 1 0.9"], {
    sightings: [atPort("a 1", { others: 5, neighbor: WEB, source: "Cdp" }), atPort("core 1")],
    links: [link(port("a", "1"), "Cdp")],
  });
  ranked("a device is behind the virtualization host at its port", ["Edge a 1 0.85"], {
    sightings: [atPort("a 1", { others: 15, neighbor: host("esx") })],
  });
  ranked("a neighbor with many entries may be a switch without a table", ["Edge a 1 0.6"], {
    sightings: [atPort("a 1", { others: 16, neighbor: host("esx") })],
  });
  ranked("a port that ends at a host beats a port with more entries and no neighbor", ["Edge a 1 0.6"], {
    sightings: [atPort("core 1", { others: 60 }), atPort("a 1", { others: 20, neighbor: host("esx") })],
  });
  ranked("a switch is at the port that leads to it", ["Edge a 48 0.98"], {
    host: CORE,
    sightings: [atPort("a 48", { others: 300, neighbor: CORE })],
  });
  ranked("a device's own table does not locate it", ["- nowhere 0.3"], {
    host: CORE,
    sightings: [atPort("core 1")],
  });
  ranked("uplinks alone give the direction, from the nearest one", ["Uplink a 48 0.4"], {
    sightings: [
      atPort("core 1", { others: 90, neighbor: host("a", true) }),
      atPort("a 48", { others: 40, neighbor: CORE }),
    ],
  });
  ranked("a port that is down is a past location", ["Edge a 1 0.27"], { sightings: [atPort("a 1", { down: true })] });
  ranked("a disabled port is a past location", ["Edge a 1 0.27"], { sightings: [atPort("a 1", { off: true })] });
  ranked("a current location precedes a past one", ["Edge b 2 0.75", "Edge a 1 0.16"], {
    sightings: [atPort("a 1", { down: true }), atPort("b 2", { others: 2 })],
  });
  ranked("a down port with fewer entries does not turn a live port into an uplink", ["Edge b 2 0.5", "Edge a 1 0.16"], {
    sightings: [atPort("a 1", { down: true }), atPort("b 2", { others: 20 })],
  });
  ranked("of two equal ports the one that learned the address last comes first", ["Edge b 2 0.54", "Edge a 1 0.54"], {
    sightings: [atPort("a 1"), sightingOf(port("b", "2"), [null], "2026-11-21T10:00:00.000Z")],
  });
  ranked("a device with two direct links is at both ports", ["Edge a 1 0.98", "Edge b 2 0.98"], {
    sightings: [atPort("a 1", { neighbor: WEB }), atPort("b 2", { neighbor: WEB })],
  });
  ranked("LLDP alone locates a device", ["Edge a 1 0.85"], { links: [link(port("a", "1"))] });
  ranked("CDP alone locates a device with less confidence", ["Edge a 1 0.6"], { links: [link(port("a", "1"), "Cdp")] });
  ranked("a manually entered neighbor alone locates a device", ["Edge a 1 0.85"], {
    links: [link(port("a", "1"), "Entered")],
  });
  ranked("a link without a port locates the device at the switch", ["- a 0.6"], {
    links: [{ ...link(port("a", "1")), port: null }],
  });
  ranked("a link without a port adds nothing to a port of the same switch", ["Edge a 1 0.9"], {
    sightings: [atPort("a 1")],
    links: [{ ...link(port("a", "1")), port: null }],
  });
  ranked("a link to another interface of the host is ignored if there is another candidate", ["Edge a 1 0.9"], {
    sightings: [atPort("a 1")],
    links: [link(port("b", "2"), "Lldp", false)],
  });
  ranked("a link to another interface of the host counts if there is no other candidate", ["Edge b 2 0.85"], {
    links: [link(port("b", "2"), "Lldp", false)],
  });
  ranked("hosts at the ports of a switch do not locate the switch", ["Edge a 48 0.85"], {
    host: CORE,
    links: [link({ ...port("srv", "eth0"), device: host("srv") }), link(port("a", "48"))],
  });
  ranked("a link to a switch outranks a link between hosts", ["Edge a 1 0.6"], {
    links: [link({ ...port("srv", "eth0"), device: host("srv") }), link(port("a", "1"), "Cdp")],
  });
  ranked("a link between hosts is used if there is no other candidate", ["Edge srv eth0 0.85"], {
    links: [link({ ...port("srv", "eth0"), device: host("srv") })],
  });
  ranked("a neighbor that three switches name at ports with many entries is a switch", ["Edge b 1 0.5"], {
    sightings: [
      atPort("a 1", { others: 5, neighbor: host("core"), namedAt: { b: false, c: false } }),
      atPort("b 1", { others: 30 }),
    ],
  });
  ranked("a port without other entries needs three other switches that name its neighbor", ["Uplink a 1 0.4"], {
    sightings: [atPort("a 1", { neighbor: host("core"), namedAt: { b: false, c: false, d: false } })],
  });
  ranked("two switches suffice if their ports hold most of their tables", ["Uplink a 1 0.4"], {
    sightings: [atPort("a 1", { others: 5, holdsMost: true, announced: "core", namedAt: { b: true } })],
  });
  ranked("two switches do not suffice otherwise: the neighbor may be a dual-homed host", ["Edge a 1 0.85"], {
    sightings: [atPort("a 1", { others: 5, holdsMost: true, neighbor: host("esx"), namedAt: { b: false } })],
  });
  ranked("a device behind a dual-homed host is at both ports", ["Edge a 1 0.85", "Edge b 1 0.85"], {
    sightings: [
      atPort("a 1", { others: 5, neighbor: host("esx"), namedAt: { b: false } }),
      atPort("b 1", { others: 5, neighbor: host("esx"), namedAt: { a: false } }),
    ],
  });
  ranked("a dual-homed neighbor yields to a port with fewer entries", ["Edge b 1 0.75"], {
    sightings: [
      atPort("a 1", { others: 20, neighbor: host("core"), namedAt: { b: false } }),
      atPort("b 1", { others: 5 }),
    ],
  });
  ranked(
    "a host port with many entries yields to an otherwise empty port of another switch, and lowers the confidence",
    ["Edge b 1 0.72"],
    { sightings: [atPort("a 1", { others: 4, neighbor: host("core") }), atPort("b 1")] },
  );
  ranked("a phone port with a computer does not yield", ["Edge a 1 0.85"], {
    sightings: [atPort("a 1", { others: 3, neighbor: host("phone") }), atPort("b 1", { others: 30 })],
  });
  ranked("a port of the same switch does not count against a host", ["Edge a 2 0.54", "Edge a 1 0.51"], {
    sightings: [atPort("a 1", { others: 4, neighbor: host("esx") }), atPort("a 2")],
  });
  ranked("a port that leads to a switch with a nearer port is an uplink, even with fewer entries", ["Edge a 1 0.75"], {
    sightings: [atPort("core 1", { others: 2, leadsTo: ["a"] }), atPort("a 1", { others: 12, leadsTo: [] })],
  });
  ranked("two switches that learned each other's addresses enclose the device", ["Edge a 1 0.45", "Edge core 1 0.45"], {
    sightings: [atPort("core 1", { others: 6, leadsTo: ["a"] }), atPort("a 1", { others: 6, leadsTo: ["core"] })],
  });
  ranked("ports that hold most of their switch's table are all uplinks", ["Uplink a 1 0.4"], {
    sightings: [atPort("a 1", { others: 40, holdsMost: true }), atPort("b 1", { others: 90, holdsMost: true })],
  });
  ranked("the only port that does not hold most of its switch's table is the edge", ["Edge a 1 0.5"], {
    sightings: [atPort("a 1", { others: 40 }), atPort("b 1", { others: 90, holdsMost: true })],
  });
  ranked("ports of one switch that hold most of its table are not uplinks", ["Edge a 1 0.3", "Edge a 2 0.3"], {
    sightings: [atPort("a 1", { others: 40, holdsMost: true }), atPort("a 2", { others: 40, holdsMost: true })],
  });
  ranked("a device that one switch learned well after the other has moved", ["Edge b 2 0.72", "Edge a 1 0.45"], {
    sightings: [
      atPort("a 1"),
      sightingOf(port("b", "2", { since: "2026-11-20T00:00:00.000Z" }), [null], "2026-11-21T10:00:00.000Z"),
    ],
  });
  ranked("a device has not moved to a port that was unknown before", ["Edge b 2 0.54", "Edge a 1 0.54"], {
    sightings: [
      atPort("a 1"),
      sightingOf(port("b", "2", { since: "2026-11-21T10:00:00.000Z" }), [null], "2026-11-21T10:00:00.000Z"),
    ],
  });
  ranked("an aggregate is confirmed by LLDP at its member ports", ["Edge a Po1 0.98"], {
    sightings: [atPort("a Po1", { lag: true, others: 3 })],
    links: [link(port("a", "1")), link(port("a", "2"))],
  });
  ranked("the location is unknown without data", ["- nowhere 0.3"], {});

  test("uplinks on the path are evidence, the nearest first and the rest counted", () => {
    const uplinks = Array.from({ length: 8 }, (_, index) =>
      atPort(`s${index} 48`, { others: 20 * (index + 1), neighbor: CORE }),
    );
    const [candidate] = locate([subject({ sightings: [...uplinks, atPort("a 1")] })]).candidates;
    const reported = candidate?.evidence.filter(({ kind }) => kind === "Uplink") ?? [];
    expect(reported).toHaveLength(6);
    expect(reported[0]?.records.map(({ name }) => name)).toEqual([MAC, "s0 48", "core"]);
    expect(reported[5]?.sentence).toBe("3 more ports forward to it as uplinks.");
  });

  test("candidates are limited, and omitted ones are reported", () => {
    const sightings = Array.from({ length: CANDIDATES_MAX + 5 }, (_, index) => atPort(`s${index} 1`));
    const location = locate([subject({ sightings })]);
    expect(location.candidates).toHaveLength(CANDIDATES_MAX);
    expect(location.truncated).toBe(true);
  });
});

describe("the majority of a table", () => {
  test("may move within both ranges at once, with the same result", () => {
    for (let total = 1; total <= 70; total += 1) {
      for (let rows = 0; rows <= total; rows += 1) {
        const range = majorityOf(rows, total);
        expect(range.holdsMost).toBe(rows > total - rows);
        expect(rows >= range.rows.low && rows <= range.rows.high).toBe(true);
        expect(total >= range.total.low && total <= range.total.high).toBe(true);
        // Even the bounds closest to the other result give the same one.
        if (range.holdsMost) expect(2 * range.rows.low).toBeGreaterThan(range.total.high);
        else expect(2 * range.rows.high).toBeLessThanOrEqual(range.total.low);
      }
    }
  });

  test("has the same ranges for similar numbers", () => {
    const ranges = Array.from({ length: 200 }, (_, index) => JSON.stringify(majorityOf(800 + index, 1_000)));
    expect(new Set(ranges).size).toBe(1);
  });
});

describe("ambiguities and notes", () => {
  const BY_IP = { by: "ip", value: "10.0.0.7" } as const;
  const withoutMac = (subnetVlan: VlanFact) =>
    subject({ mac: null, address: address("10.0.0.7", subnetVlan), identities: [identity("Address")] });

  test("an address shared by two hosts is ambiguous, and the observed one comes first", () => {
    const other = subject({ host: host("db"), mac: null, identities: [identity("Address")] });
    const location = locate([other, subject({ sightings: [atPort("a 1")] })], BY_IP);
    expect(location.candidates.map((candidate) => [candidate.host?.name, candidate.confidence])).toEqual([
      ["web", 0.54],
      ["db", 0.18],
    ]);
    expect(location.ambiguity).toBe("10.0.0.7 belongs to 2 hosts: db, web.");
    expect(kinds(location.candidates[0])).toEqual(["AddressMac", "Forwarding", "SeveralHosts"]);
  });

  test("an ambiguity across networks names the parameter that resolves it", () => {
    const location = locate([subject({ networkId: "n2" }), subject({ host: host("db") })], BY_IP);
    expect(location.ambiguity).toContain("network_id");
  });

  test("a name shared by two hosts is ambiguous", () => {
    const location = locate([subject(), subject({ host: host("db") })], { by: "hostname", value: "web" });
    expect(location.ambiguity).toBe("2 hosts are called web: web, db.");
  });

  test("two addresses of one host at two ports are not ambiguous", () => {
    const location = locate(
      [subject({ sightings: [atPort("a 1")] }), subject({ mac: "00:1b:21:00:00:08", sightings: [atPort("b 2")] })],
      { by: "hostname", value: "web" },
    );
    expect(location.ambiguity).toBeNull();
    expect(summaries(location)).toEqual(["Edge a 1 0.9", "Edge b 2 0.9"]);
  });

  test("competing ports are reported in the ambiguity and in the evidence of each", () => {
    const location = locate([subject({ sightings: [atPort("a 1"), atPort("b 2")] })]);
    expect(location.ambiguity).toBe(`web (10.0.0.7, ${MAC}) may be at any of 2 ports: a 1 of a, b 2 of b.`);
    const alsoSeen = location.candidates[1]?.evidence.find(({ kind }) => kind === "AlsoSeen");
    expect(alsoSeen?.records.map(({ name }) => name)).toEqual(["a 1"]);
  });

  test.each([
    ["00:00:5e:00:01:0a", "VirtualRouter", "VRRP group 10", FACTORS.virtualRouter.factor * 0.9],
    ["00:00:0c:07:ac:02", "VirtualRouter", "HSRP group 2", FACTORS.virtualRouter.factor * 0.9],
    ["02:42:ac:11:00:02", "LocallyAdministered", "assigned by software", 0.9],
  ])("%s is noted as %s", (mac, kind, words, confidence) => {
    const [candidate] = locate([subject({ mac, sightings: [atPort("a 1")] })]).candidates;
    expect(candidate?.evidence.find((item) => item.kind === kind)?.sentence).toContain(words);
    expect(candidate?.confidence).toBeCloseTo(confidence, 2);
  });

  test("an unknown device at a port is shown by its own name", () => {
    const unknown = { host: null, address: null, sightings: [atPort("a 1", { announced: "phone-7" })] };
    const location = locate([subject(unknown)]);
    expect(location.explanation).toBe(`An unknown device (${MAC}) is at a 1 of a.`);
    expect(location.candidates[0]?.evidence.find(({ kind }) => kind === "UnknownNeighbor")?.sentence).toBe(
      "By LLDP, a device that is not in the inventory is at the other end of a 1: phone-7.",
    );
  });

  test("an address without a MAC address has its host and subnet, and the reason for missing data", () => {
    const location = locate([withoutMac(vlan(7))], BY_IP);
    expect(location.explanation).toBe(
      "web (10.0.0.7) is in the inventory, but its port is unknown. Its subnet is 10.0.0.0/8, VLAN 7 (v7).",
    );
    expect(location.candidates[0]).toMatchObject({
      switch: null,
      port: null,
      subnet: { cidr: "10.0.0.0/8" },
      vlan: { number: 7, source: "Subnet" },
      confidence: 0.3,
    });
  });

  test("a VLAN named after its number is not named twice", () => {
    const unnamed: VlanFact = { ...vlan(7), ref: { ...vlan(7).ref, name: "VLAN 7" } };
    const location = locate([withoutMac(unnamed)], BY_IP);
    expect(location.explanation).toEndWith("Its subnet is 10.0.0.0/8, VLAN 7.");
  });

  test("a location behind a host is reported in the sentence and in `behind`", () => {
    const location = locate([subject({ sightings: [atPort("a 1", { others: 9, neighbor: host("esx") })] })]);
    expect(location.explanation).toBe(`web (10.0.0.7, ${MAC}) is behind esx at a 1 of a.`);
    expect(location.candidates[0]?.behind?.name).toBe("esx");
  });

  test("an unknown location is explained, and a group address is identified", () => {
    const explanation = `${MAC} is unknown.`;
    expect(locate([])).toMatchObject({ explanation, candidates: [], ambiguity: null, truncated: false });
    expect(locate([], { by: "mac", value: "01:00:5e:00:00:fb" }).explanation).toBe(
      "01:00:5e:00:00:fb is unknown. It is a group address, not that of a single station.",
    );
  });
});

describe("the VLAN", () => {
  const [v7, v8, v9] = [vlan(7), vlan(8), vlan(9)] as const;
  /** Tests the VLAN of the subject at a port, with this VLAN of its subnet: `7 v7 ForwardingTable`. */
  const testVlan = (title: string, expected: string | null, sighting: Sighting, subnetVlan: VlanFact | null = null) =>
    test(title, () => {
      const found = subject({ address: address("10.0.0.7", subnetVlan), sightings: [sighting] });
      const [candidate] = locate([found], undefined, [v7, v8, v9]).candidates;
      const reported = candidate?.vlan ?? null;
      expect(reported && `${reported.number} ${reported.name} ${reported.source}`).toBe(expected);
      expect(kinds(candidate).includes("Vlan")).toBe(expected !== null);
    });

  const tableOf = (numbers: number[], options: PortOptions = {}) => sightingOf(port("a", "1", options), numbers);
  const uplink = atPort("a 48", { native: v8, neighbor: CORE });
  testVlan("is the one in the forwarding table", "7 v7 ForwardingTable", tableOf([7], { native: v8 }));
  testVlan("of several in the table is the subnet's", "8 v8 ForwardingTable", tableOf([7, 8]), v8);
  testVlan("may be a number that is not in the inventory", "99 null ForwardingTable", tableOf([99]));
  testVlan("is the subnet's if the port is a member", "9 v9 Port", atPort("a 1", { native: v8, tagged: [v7, v9] }), v9);
  testVlan("is otherwise the port's native VLAN", "8 v8 Port", atPort("a 1", { native: v8, tagged: [v7, v8] }), v9);
  testVlan("is otherwise the only VLAN of the port", "7 v7 Port", atPort("a 1", { tagged: [v7] }));
  testVlan("is not guessed from a trunk", null, atPort("a 1", { tagged: [v7, v8] }));
  testVlan("of an uplink is ignored", "9 v9 Subnet", uplink, v9);
});
