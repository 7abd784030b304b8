// Candidates from facts: edge or uplink, order, confidence, and the reasons in the evidence.

import { describe, expect, test } from "bun:test";
import {
  CANDIDATES_MAX,
  type Candidate,
  type EvidenceKind,
  FACTORS,
  type Location,
} from "../../src/history/locate/answer.ts";
import {
  type AddressFact,
  type Facts,
  type HostFact,
  type Identity,
  type LinkFact,
  type LinkSource,
  type LocateQuestion,
  majorityOf,
  type PortFact,
  type RecordRef,
  type Sighting,
  type Subject,
  type VlanFact,
} from "../../src/history/locate/facts.ts";
import { rank } from "../../src/history/locate/ranking.ts";
import { outcomeOf } from "../support/topology/steps.ts";

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
const address = (ipAddress: string, ofSubnet: VlanFact | null = null): AddressFact => ({
  ref: ref("ip_address", ipAddress),
  ipAddress,
  subnet: { ref: ref("subnet", "s"), cidr: "10.0.0.0/8", vlan: ofSubnet },
});

const WEB = host("web");
const CORE = host("core", true);

interface PortOptions {
  readonly others?: number;
  readonly down?: boolean;
  readonly off?: boolean;
  readonly neighbor?: HostFact | null;
  readonly by?: LinkSource;
  readonly announced?: string;
  readonly native?: VlanFact;
  readonly tagged?: readonly VlanFact[];
  /** Crowded ports where other devices name the same remote end; with `most` of their device's table. */
  readonly namedAt?: Readonly<Record<string, boolean>>;
  readonly most?: boolean;
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
    forwards: others + 1,
    holdsMost: options.most ?? false,
    leadsTo: options.leadsTo?.map((each) => ref("host", each)) ?? null,
    isAggregate: options.lag ?? false,
    createdAt: options.since ?? SINCE,
    neighbor:
      neighbor === undefined && announced === null
        ? null
        : {
            source: options.by ?? "Lldp",
            host: neighbor ?? null,
            announced,
            namedAt: Object.entries(options.namedAt ?? {}).map(([named, holdsMost]) => ({
              device: ref("host", named),
              port: ref("if_entry", `${named} up`),
              holdsMost,
            })),
          },
    nativeVlanId: options.native?.ref.id ?? null,
    vlanIds: options.tagged?.map((each) => each.ref.id) ?? [],
  };
}

function seen(at: PortFact, vlanNumbers: readonly (number | null)[] = [null], since = SINCE): Sighting {
  return {
    port: { ...at, forwards: at.forwards + vlanNumbers.length - 1 },
    entries: vlanNumbers.map((vlanNumber) => ({
      ref: { ...ref("fdb_entry", MAC, since), id: `${at.ref.id} ${vlanNumber}` },
      vlanNumber,
    })),
  };
}

/** Seen at a port by its device and name, such as `a 1`. */
function at(place: string, options: PortOptions = {}): Sighting {
  const [device, name] = place.split(" ") as [string, string];
  return seen(port(device, name, options));
}

const link = (at: PortFact, source: LinkSource = "Lldp", isExact = true): LinkFact => ({
  device: at.device,
  port: at,
  source,
  isExact,
  reportedBy: at.ref,
  announced: null,
});

function subject(fields: Partial<Subject> = {}): Subject {
  const identities: Identity[] = [{ kind: "AddressMac", record: ref("ip_address", "10.0.0.7") }];
  return {
    networkId: "n1",
    host: WEB,
    address: address("10.0.0.7"),
    mac: MAC,
    identities,
    sightings: [],
    links: [],
    ...fields,
  };
}

function located(
  subjects: readonly Subject[],
  asked: LocateQuestion = { by: "mac", value: MAC },
  vlans: readonly VlanFact[] = [],
): Location {
  const facts: Facts = {
    asked,
    subjects,
    vlans: new Map(vlans.flatMap((each) => [[each.ref.id, each] as const, [`n1/${each.number}`, each] as const])),
    isCutShort: false,
  };
  const location = outcomeOf(rank(facts));
  for (const candidate of location.candidates) {
    const product = candidate.evidence.reduce((all, { factor }) => all * factor, 1);
    expect(Math.abs(candidate.confidence - product)).toBeLessThanOrEqual(0.005 + 1e-9);
    expect(
      candidate.evidence.every(({ sentence }) => /^[^\n]+\.$/.test(sentence) && !/undefined|null/.test(sentence)),
    ).toBe(true);
  }
  return location;
}

const places = ({ candidates }: Location) =>
  candidates.map(
    (candidate) =>
      `${candidate.port?.role ?? "-"} ${candidate.port?.name ?? candidate.switch?.name ?? "nowhere"} ${candidate.confidence}`,
  );
const kinds = (candidate: Candidate | undefined): EvidenceKind[] => candidate?.evidence.map(({ kind }) => kind) ?? [];

describe("edge and uplink", () => {
  /** A test of the candidates for one subject, as places. */
  const ranked = (title: string, expected: readonly string[], fields: Partial<Subject>) =>
    test(title, () => expect(places(located([subject(fields)]))).toEqual([...expected]));

  ranked("one port that forwards to nothing else is where it is", ["Edge a 1 0.9"], { sightings: [at("a 1")] });
  ranked("a port whose neighbor has a forwarding table is an uplink, whatever its crowd", ["Edge a 1 0.75"], {
    sightings: [
      at("core 1", { neighbor: host("a", true) }),
      at("a 1", { others: 3 }),
      at("b 48", { others: 200, neighbor: CORE }),
    ],
  });
  ranked("without neighbors the smallest crowd is the edge", ["Edge a 1 0.9"], {
    sightings: [at("core 1", { others: 30 }), at("a 1"), at("b 48", { others: 90 })],
  });
  ranked("a few more are a close call", ["Edge a 1 0.72"], { sightings: [at("core 1", { others: 2 }), at("a 1")] });
  ranked("crowds of one order of magnitude leave both", ["Edge a 1 0.45", "Edge b 2 0.45"], {
    sightings: [at("b 2", { others: 2 }), at("a 1", { others: 3 })],
  });
  ranked("many at one port: an unmanaged switch", ["Edge a 1 0.75"], { sightings: [at("a 1", { others: 15 })] });
  ranked("very many at one port: something unknown", ["Edge a 1 0.5"], { sightings: [at("a 1", { others: 16 })] });
  ranked("LLDP confirms a port that others share", ["Edge a 1 0.98"], {
    sightings: [at("a 1", { others: 40, neighbor: WEB })],
    links: [link(port("a", "1"))],
  });
  ranked("where LLDP knows it, ports without neighbors are uplinks even with fewer entries", ["Edge a 1 0.98"], {
    sightings: [at("a 1", { others: 5, neighbor: WEB }), at("core 1")],
    links: [link(port("a", "1"))],
  });
  ranked("CDP is no proof of a direct link", ["Edge core 1 0.9"], {
    sightings: [at("a 1", { others: 5, neighbor: WEB, by: "Cdp" }), at("core 1")],
    links: [link(port("a", "1"), "Cdp")],
  });
  ranked("a virtualization host at the port is what it is behind", ["Edge a 1 0.85"], {
    sightings: [at("a 1", { others: 15, neighbor: host("esx") })],
  });
  ranked("with very many there it may as well be a switch without a table", ["Edge a 1 0.6"], {
    sightings: [at("a 1", { others: 16, neighbor: host("esx") })],
  });
  ranked("a port that ends at a host beats one with as many entries and no neighbor", ["Edge a 1 0.6"], {
    sightings: [at("core 1", { others: 60 }), at("a 1", { others: 20, neighbor: host("esx") })],
  });
  ranked("a device that is a switch itself is at the port that leads to it", ["Edge a 48 0.98"], {
    host: CORE,
    sightings: [at("a 48", { others: 300, neighbor: CORE })],
  });
  ranked("a device's own table says nothing of where it is", ["- nowhere 0.3"], {
    host: CORE,
    sightings: [at("core 1")],
  });
  ranked("only uplinks: the direction, from the nearest of them", ["Uplink a 48 0.4"], {
    sightings: [at("core 1", { others: 90, neighbor: host("a", true) }), at("a 48", { others: 40, neighbor: CORE })],
  });
  ranked("a port that is down is from before", ["Edge a 1 0.27"], { sightings: [at("a 1", { down: true })] });
  ranked("a port that is switched off is from before", ["Edge a 1 0.27"], { sightings: [at("a 1", { off: true })] });
  ranked("where it is now stands before where it was", ["Edge b 2 0.75", "Edge a 1 0.16"], {
    sightings: [at("a 1", { down: true }), at("b 2", { others: 2 })],
  });
  ranked("a small crowd that is down makes no uplink of a live port", ["Edge b 2 0.5", "Edge a 1 0.16"], {
    sightings: [at("a 1", { down: true }), at("b 2", { others: 20 })],
  });
  ranked("of two equal ports the one that learned it last comes first", ["Edge b 2 0.54", "Edge a 1 0.54"], {
    sightings: [at("a 1"), seen(port("b", "2"), [null], "2026-11-21T10:00:00.000Z")],
  });
  ranked("a thing with two direct links is at both", ["Edge a 1 0.98", "Edge b 2 0.98"], {
    sightings: [at("a 1", { neighbor: WEB }), at("b 2", { neighbor: WEB })],
  });
  ranked("LLDP alone", ["Edge a 1 0.85"], { links: [link(port("a", "1"))] });
  ranked("CDP alone", ["Edge a 1 0.6"], { links: [link(port("a", "1"), "Cdp")] });
  ranked("an entered neighbor alone", ["Edge a 1 0.85"], { links: [link(port("a", "1"), "Entered")] });
  ranked("a device without a port", ["- a 0.6"], { links: [{ ...link(port("a", "1")), port: null }] });
  ranked("a device without a port says nothing beside a port of it", ["Edge a 1 0.9"], {
    sightings: [at("a 1")],
    links: [{ ...link(port("a", "1")), port: null }],
  });
  ranked("a link to another interface of the host counts only where nothing else does", ["Edge a 1 0.9"], {
    sightings: [at("a 1")],
    links: [link(port("b", "2"), "Lldp", false)],
  });
  ranked("and then it counts", ["Edge b 2 0.85"], { links: [link(port("b", "2"), "Lldp", false)] });
  ranked("hosts at the ports of a switch are not where the switch is", ["Edge a 48 0.85"], {
    host: CORE,
    links: [link({ ...port("srv", "eth0"), device: host("srv") }), link(port("a", "48"))],
  });
  ranked("a link to a switch says more than one between hosts", ["Edge a 1 0.6"], {
    links: [link({ ...port("srv", "eth0"), device: host("srv") }), link(port("a", "1"), "Cdp")],
  });
  ranked("a link between hosts is better than nothing", ["Edge srv eth0 0.85"], {
    links: [link({ ...port("srv", "eth0"), device: host("srv") })],
  });
  ranked("whoever three switches name at crowded ports is a switch itself", ["Edge b 1 0.5"], {
    sightings: [
      at("a 1", { others: 5, neighbor: host("core"), namedAt: { b: false, c: false } }),
      at("b 1", { others: 30 }),
    ],
  });
  ranked("and where the port itself is not crowded it is one of the three others", ["Uplink a 1 0.4"], {
    sightings: [at("a 1", { neighbor: host("core"), namedAt: { b: false, c: false, d: false } })],
  });
  ranked("two do where it is the way to most of what they know", ["Uplink a 1 0.4"], {
    sightings: [at("a 1", { others: 5, most: true, announced: "core", namedAt: { b: true } })],
  });
  ranked("else it may be a host on two switches", ["Edge a 1 0.85"], {
    sightings: [at("a 1", { others: 5, most: true, neighbor: host("esx"), namedAt: { b: false } })],
  });
  ranked("which is one place behind it", ["Edge a 1 0.85", "Edge b 1 0.85"], {
    sightings: [
      at("a 1", { others: 5, neighbor: host("esx"), namedAt: { b: false } }),
      at("b 1", { others: 5, neighbor: host("esx"), namedAt: { a: false } }),
    ],
  });
  ranked("and no place where a smaller crowd is elsewhere", ["Edge b 1 0.75"], {
    sightings: [at("a 1", { others: 20, neighbor: host("core"), namedAt: { b: false } }), at("b 1", { others: 5 })],
  });
  ranked(
    "a crowd at a host gives way to a port of another switch with nothing else, and casts a doubt",
    ["Edge b 1 0.72"],
    { sightings: [at("a 1", { others: 4, neighbor: host("core") }), at("b 1")] },
  );
  ranked("a telephone with a computer does not", ["Edge a 1 0.85"], {
    sightings: [at("a 1", { others: 3, neighbor: host("phone") }), at("b 1", { others: 30 })],
  });
  ranked("a port of the same switch says nothing against a host", ["Edge a 2 0.54", "Edge a 1 0.51"], {
    sightings: [at("a 1", { others: 4, neighbor: host("esx") }), at("a 2")],
  });
  ranked(
    "a port that learned the MAC address of a switch that knows it nearer is an uplink, even with fewer entries",
    ["Edge a 1 0.75"],
    { sightings: [at("core 1", { others: 2, leadsTo: ["a"] }), at("a 1", { others: 12, leadsTo: [] })] },
  );
  ranked("two that learned each other's are either side of it", ["Edge a 1 0.45", "Edge core 1 0.45"], {
    sightings: [at("core 1", { others: 6, leadsTo: ["a"] }), at("a 1", { others: 6, leadsTo: ["core"] })],
  });
  ranked("where every port holds most of its switch's table all are uplinks", ["Uplink a 1 0.4"], {
    sightings: [at("a 1", { others: 40, most: true }), at("b 1", { others: 90, most: true })],
  });
  ranked("one that does not is the edge", ["Edge a 1 0.5"], {
    sightings: [at("a 1", { others: 40 }), at("b 1", { others: 90, most: true })],
  });
  ranked("nor are those of one switch between anything", ["Edge a 1 0.3", "Edge a 2 0.3"], {
    sightings: [at("a 1", { others: 40, most: true }), at("a 2", { others: 40, most: true })],
  });
  ranked("where one switch learned it well after the other, it has moved", ["Edge b 2 0.72", "Edge a 1 0.45"], {
    sightings: [
      at("a 1"),
      seen(port("b", "2", { since: "2026-11-20T00:00:00.000Z" }), [null], "2026-11-21T10:00:00.000Z"),
    ],
  });
  ranked("not where that port was not known before", ["Edge b 2 0.54", "Edge a 1 0.54"], {
    sightings: [
      at("a 1"),
      seen(port("b", "2", { since: "2026-11-21T10:00:00.000Z" }), [null], "2026-11-21T10:00:00.000Z"),
    ],
  });
  ranked("an aggregate is where LLDP knows it at another port of the switch", ["Edge a Po1 0.98"], {
    sightings: [at("a Po1", { lag: true, others: 3 })],
    links: [link(port("a", "1")), link(port("a", "2"))],
  });
  ranked("nothing tells", ["- nowhere 0.3"], {});

  test("uplinks on the path are evidence, the nearest first and the rest counted", () => {
    const uplinks = Array.from({ length: 8 }, (_, k) => at(`s${k} 48`, { others: 20 * (k + 1), neighbor: CORE }));
    const [candidate] = located([subject({ sightings: [...uplinks, at("a 1")] })]).candidates;
    const told = candidate?.evidence.filter(({ kind }) => kind === "Uplink") ?? [];
    expect(told).toHaveLength(6);
    expect(told[0]?.records.map(({ name }) => name)).toEqual([MAC, "s0 48", "core"]);
    expect(told[5]?.sentence).toBe("3 more ports forward to it as uplinks.");
  });

  test("candidates are limited, and omitted ones are reported", () => {
    const sightings = Array.from({ length: CANDIDATES_MAX + 5 }, (_, k) => at(`s${k} 1`));
    const location = located([subject({ sightings })]);
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
        expect(
          rows >= range.rows.low && rows <= range.rows.high && total >= range.total.low && total <= range.total.high,
        ).toBe(true);
        // Even the bounds closest to the other answer decide the same.
        if (range.holdsMost) expect(2 * range.rows.low).toBeGreaterThan(range.total.high);
        else expect(2 * range.rows.high).toBeLessThanOrEqual(range.total.low);
      }
    }
  });

  test("has the same ranges for similar numbers", () => {
    expect(new Set(Array.from({ length: 200 }, (_, k) => JSON.stringify(majorityOf(800 + k, 1_000)))).size).toBe(1);
  });
});

describe("ambiguities and notes", () => {
  test("an address of two hosts is ambiguous, and the observed one comes first", () => {
    const other = subject({
      host: host("db"),
      mac: null,
      identities: [{ kind: "Address", record: ref("ip_address", "10.0.0.7") }],
    });
    const location = located([other, subject({ sightings: [at("a 1")] })], { by: "ip", value: "10.0.0.7" });
    expect(location.candidates.map((each) => [each.host?.name, each.confidence])).toEqual([
      ["web", 0.54],
      ["db", 0.18],
    ]);
    expect(location.ambiguity).toBe("10.0.0.7 belongs to 2 hosts: db, web.");
    expect(kinds(location.candidates[0])).toEqual(["AddressMac", "Forwarding", "SeveralHosts"]);
  });

  test("an ambiguity across networks names the parameter to resolve it", () => {
    const location = located([subject({ networkId: "n2" }), subject({ host: host("db") })], {
      by: "ip",
      value: "10.0.0.7",
    });
    expect(location.ambiguity).toContain("network_id");
  });

  test("a name of two hosts is reported as such", () => {
    expect(located([subject(), subject({ host: host("db") })], { by: "hostname", value: "web" }).ambiguity).toBe(
      "2 hosts are called web: web, db.",
    );
  });

  test("two addresses of one host at two ports are not ambiguous", () => {
    const location = located(
      [subject({ sightings: [at("a 1")] }), subject({ mac: "00:1b:21:00:00:08", sightings: [at("b 2")] })],
      { by: "hostname", value: "web" },
    );
    expect(location.ambiguity).toBeNull();
    expect(places(location)).toEqual(["Edge a 1 0.9", "Edge b 2 0.9"]);
  });

  test("rival ports are reported as such, in the ambiguity and in the evidence of each", () => {
    const location = located([subject({ sightings: [at("a 1"), at("b 2")] })]);
    expect(location.ambiguity).toBe(`web (10.0.0.7, ${MAC}) may be at any of 2 ports: a 1 of a, b 2 of b.`);
    expect(
      location.candidates[1]?.evidence.find(({ kind }) => kind === "AlsoSeen")?.records.map(({ name }) => name),
    ).toEqual(["a 1"]);
  });

  test.each([
    ["00:00:5e:00:01:0a", "VirtualRouter", "VRRP group 10", FACTORS.virtualRouter.factor * 0.9],
    ["00:00:0c:07:ac:02", "VirtualRouter", "HSRP group 2", FACTORS.virtualRouter.factor * 0.9],
    ["02:42:ac:11:00:02", "LocallyAdministered", "assigned by software", 0.9],
  ])("%s is noted as %s", (mac, kind, words, confidence) => {
    const [candidate] = located([subject({ mac, sightings: [at("a 1")] })]).candidates;
    expect(candidate?.evidence.find((each) => each.kind === kind)?.sentence).toContain(words);
    expect(candidate?.confidence).toBeCloseTo(confidence, 2);
  });

  test("an unknown device at a port is shown by its own name", () => {
    const location = located([
      subject({ host: null, address: null, sightings: [at("a 1", { announced: "phone-7" })] }),
    ]);
    expect(location.explanation).toBe(`An unknown device (${MAC}) is at a 1 of a.`);
    expect(location.candidates[0]?.evidence.find(({ kind }) => kind === "UnknownNeighbor")?.sentence).toBe(
      "By LLDP, a device that is not in the inventory is at the other end of a 1: phone-7.",
    );
  });

  test("an address without a MAC address has its host and subnet, and the reason for missing data", () => {
    const location = located(
      [
        subject({
          mac: null,
          address: address("10.0.0.7", vlan(7)),
          identities: [{ kind: "Address", record: ref("ip_address", "10.0.0.7") }],
        }),
      ],
      { by: "ip", value: "10.0.0.7" },
    );
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
    const identities = [{ kind: "Address" as const, record: ref("ip_address", "10.0.0.7") }];
    const location = located([subject({ mac: null, address: address("10.0.0.7", unnamed), identities })], {
      by: "ip",
      value: "10.0.0.7",
    });
    expect(location.explanation).toEndWith("Its subnet is 10.0.0.0/8, VLAN 7.");
  });

  test("a location behind a host is reported in the sentence and in `behind`", () => {
    const location = located([subject({ sightings: [at("a 1", { others: 9, neighbor: host("esx") })] })]);
    expect(location.explanation).toBe(`web (10.0.0.7, ${MAC}) is behind esx at a 1 of a.`);
    expect(location.candidates[0]?.behind?.name).toBe("esx");
  });

  test("an unknown location is a sentence, and a group address is reported as such", () => {
    expect(located([])).toMatchObject({
      explanation: `${MAC} is unknown.`,
      candidates: [],
      ambiguity: null,
      truncated: false,
    });
    expect(located([], { by: "mac", value: "01:00:5e:00:00:fb" }).explanation).toBe(
      "01:00:5e:00:00:fb is unknown. It is a group address, not that of a single station.",
    );
  });
});

describe("the VLAN", () => {
  const [v7, v8, v9] = [vlan(7), vlan(8), vlan(9)] as const;
  const cases: Array<
    [
      string,
      Partial<Subject>,
      { number: number; name: string | null; source: "ForwardingTable" | "Port" | "Subnet" } | null,
    ]
  > = [
    [
      "is what the forwarding table says",
      { sightings: [seen(port("a", "1", { native: v8 }), [7])] },
      { number: 7, name: "v7", source: "ForwardingTable" },
    ],
    [
      "of several in the table is the subnet's",
      { address: address("10.0.0.7", v8), sightings: [seen(port("a", "1"), [7, 8])] },
      { number: 8, name: "v8", source: "ForwardingTable" },
    ],
    [
      "may be a number that the inventory does not know",
      { sightings: [seen(port("a", "1"), [99])] },
      { number: 99, name: null, source: "ForwardingTable" },
    ],
    [
      "is the subnet's where the port is in it",
      { address: address("10.0.0.7", v9), sightings: [at("a 1", { native: v8, tagged: [v7, v9] })] },
      { number: 9, name: "v9", source: "Port" },
    ],
    [
      "else the port's native one",
      { address: address("10.0.0.7", v9), sightings: [at("a 1", { native: v8, tagged: [v7, v8] })] },
      { number: 8, name: "v8", source: "Port" },
    ],
    [
      "else the only one that the port is in",
      { sightings: [at("a 1", { tagged: [v7] })] },
      { number: 7, name: "v7", source: "Port" },
    ],
    ["is not guessed from a trunk", { sightings: [at("a 1", { tagged: [v7, v8] })] }, null],
    [
      "of an uplink says nothing",
      { address: address("10.0.0.7", v9), sightings: [at("a 48", { native: v8, neighbor: CORE })] },
      { number: 9, name: "v9", source: "Subnet" },
    ],
  ];

  test.each(cases)("%s", (_title, fields, expected) => {
    const [candidate] = located([subject(fields)], undefined, [v7, v8, v9]).candidates;
    const told = candidate?.vlan ?? null;
    expect(told === null ? null : { number: told.number, name: told.name, source: told.source }).toEqual(expected);
    expect(kinds(candidate).includes("Vlan")).toBe(expected !== null);
  });
});
