// Order, filters and search of lists through the API: identical live, as of a timestamp, paged and as a table.
// store/model.test.ts compares them with a model on the store alone.

import { beforeAll, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { foldCase } from "../../src/base/text.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { FIELD_KINDS, type FieldKind } from "../../src/resources/custom-fields/field-type.ts";
import type { Resource } from "../../src/resources/resource.ts";
import { applianceForAll, applianceForEach } from "../support/appliance/appliance-for-each.ts";
import {
  expectOk,
  invalid,
  type JsonRecord,
  newNetwork,
  newTag,
  refusal,
  snmpV1,
  tcp,
  udp,
} from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { compareCidrs } from "../support/model/naive-text.ts";

const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

interface OrderedList {
  readonly path: string;
  readonly fields: readonly string[];
  /** Fields not ordered by plain value: by prefix or by type, otherwise case-insensitively. */
  readonly keyed: readonly string[];
}

/** Strings except identifiers, timestamps and vocabulary words. */
const isText = ({ anyOf, type, enum: words, format }: TSchema): boolean =>
  anyOf?.some(isText) ?? (type === "string" && words === undefined && !["uuid", "date-time", "mac"].includes(format));

const ORDERED: readonly OrderedList[] = [
  {
    path: "hosts",
    fields: [
      ..."created_at name hostname hidden network_id".split(" "),
      ..."manufacturer model sys_location last_seen_at updated_at".split(" "),
    ],
    keyed: ["name", "hostname", "manufacturer", "model", "sys_location"],
  },
  {
    path: "services",
    fields: "created_at name service_definition position host_id network_id last_seen_at updated_at".split(" "),
    keyed: ["name", "service_definition"],
  },
  {
    path: "subnets",
    fields: ["created_at", "name", "cidr", "subnet_type", "network_id", "vlan_id", "updated_at"],
    keyed: ["name", "cidr"],
  },
  { path: "vlans", fields: ["created_at", "number", "name", "network_id", "updated_at"], keyed: ["name"] },
  { path: "networks", fields: ["created_at", "name", "stale_after_hours", "updated_at"], keyed: ["name"] },
  {
    path: "credentials",
    fields: ["created_at", "name", "credential_type", "secrets_updated_at", "updated_at"],
    keyed: ["name", "credential_type"],
  },
  {
    path: "ip-addresses",
    fields: ["created_at", "ip_address", "name", "mac_address", "subnet_id", "host_id", "updated_at"],
    keyed: ["ip_address", "name"],
  },
  { path: "ports", fields: ["created_at", "number", "protocol", "type", "updated_at"], keyed: [] },
  {
    path: "if-entries",
    fields: ["created_at", "if_index", "if_descr", "if_name", "if_alias", "mac_address", "oper_status", "updated_at"],
    keyed: ["if_descr", "if_name", "if_alias"],
  },
  {
    path: "users",
    fields: ["created_at", "name", "email", "role", "last_login", "updated_at"],
    keyed: ["name", "email"],
  },
  {
    path: "discovery/schedules",
    fields: ["created_at", "name", "kind", "is_enabled", "network_id", "updated_at"],
    keyed: ["name"],
  },
  {
    path: "discovery/ignored",
    fields: ["created_at", "entity", "label", "network_id", "host_id", "updated_at"],
    keyed: ["label"],
  },
  { path: "tags", fields: ["created_at", "name", "color", "updated_at", "is_application"], keyed: ["name"] },
];

/** Null first, then by number or by code point. */
function compareValues(left: unknown, right: unknown): number {
  const [a, b] = [left, right].map((value) => (typeof value === "boolean" ? Number(value) : (value ?? null)));
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function compareBy(field: string, isKeyed: boolean): (a: JsonRecord, b: JsonRecord) => number {
  return (a, b) => {
    const [left, right] = [a[field], b[field]];
    if (field === "cidr") return compareCidrs(left, right);
    if (field === "ip_address") return compareCidrs(`${left}/0`, `${right}/0`);
    if (field === "credential_type") return compareValues(left.type, right.type);
    const fold = (value: unknown) => (typeof value === "string" && isKeyed ? foldCase(value) : value);
    return compareValues(fold(left), fold(right)) || compareValues(left, right);
  };
}

describe("the order of a list", () => {
  const appliance = applianceForAll();
  const { clock, first, instant, owner } = appliance;
  const { newCredential, newHost, newIfEntry, newIgnored, newSchedule, newSubnet, newUser, newVlan } = appliance;
  let at: string;

  beforeAll(async () => {
    const second = await newNetwork(appliance, { name: "alpha", stale_after_hours: 24 });
    await newNetwork(appliance, { name: "Beta", stale_after_hours: 9 });
    await newNetwork(appliance, { name: "first network" });
    const vlan = await newVlan({ number: 9, name: "b" });
    for (const [number, name] of [
      [100, "B"],
      [20, "a"],
      [3, "Ärger"],
      [4, "ärger"],
    ])
      await newVlan({ number, name, network_id: number === 20 ? second.id : first.networkId });
    await newSubnet({ cidr: "10.0.0.0/8", name: "ten" });
    for (const [index, cidr] of "2001:db8::/32 9.0.0.0/8 10.2.0.0/16 ::/0 100.64.0.0/10 10.0.0.0/9"
      .split(" ")
      .entries()) {
      clock.advance(500);
      await newSubnet({
        cidr,
        name: ["Zoo", "ant", "Ant", "bee"][index % 4],
        subnet_type: ["Lan", "Dmz"][index % 2],
        vlan_id: index === 3 ? vlan.id : null,
        ...(index === 1 ? { network_id: second.id } : {}),
      });
    }
    for (const [index, name] of [
      "delta",
      "Alpha",
      "alpha",
      "Ärger",
      "éclair",
      "日本",
      "😀",
      "～ wide",
      "a b",
      "a-b",
      "ab",
    ].entries()) {
      clock.advance(index % 3 === 0 ? 0 : 700);
      await newTag(appliance, { name, color: ["Red", "Blue", "Amber"][index % 3], is_application: index % 2 === 0 });
      await newHost({
        name,
        hidden: index % 4 === 0,
        hostname: index % 3 === 0 ? null : `H${(index * 7) % 5}`,
        manufacturer: ["cisco", "Cisco", null, "HPE"][index % 4],
        model: index % 2 === 0 ? `C${index}` : null,
        sys_location: ["Hall 3", "hall 3", "Keller"][index % 3],
        ...(index % 5 === 0 ? { network_id: second.id } : {}),
        services: [
          { name: `${name} web`, service_definition: ["nginx", "Nginx", "ssh"][index % 3], position: (index * 3) % 4 },
        ],
      });
    }
    const [device, otherDevice] = (await owner.get(`hosts?limit=2&network_id=${first.networkId}`)).data as [
      JsonRecord,
      JsonRecord,
    ];
    for (const [index, ip] of [
      ..."10.10.0.1 10.9.0.1 10.255.255.255 2001:db8::10:1 2001:db8::9".split(" "),
      ..."10.2.3.40 10.2.3.4 100.64.0.1 2001:db8:1::".split(" "),
    ].entries()) {
      clock.advance(index % 3 === 0 ? 0 : 300);
      const hostId = (index % 2 === 0 ? device : otherDevice).id;
      await expectOk(
        owner.post("ip-addresses", {
          host_id: index % 2 === 0 ? otherDevice.id : hostId,
          ip_address: ip,
          mac_address: index % 3 === 0 ? null : `02:00:00:00:00:0${index}`,
          name: ["", "eth1", "Eth1", "ärger", "Ärger", "😀", "～"][index % 7],
        }),
      );
      await newIfEntry(hostId, {
        if_index: 1 + ((index * 7) % 11),
        if_descr: ["Gi1/0/2", "gi1/0/2", "Gi1/0/10", "lo", "Ärger"][index % 5],
        oper_status: ["Up", "Down"][index % 2],
        ...(index % 3 === 0 ? {} : { if_name: `x${index % 4}`, if_alias: ["uplink", "Uplink", "～", "😀"][index % 4] }),
      });
      await expectOk(
        owner.post("ports", {
          host_id: hostId,
          number: [443, 80, 8080, 22, 9][index % 5],
          protocol: index % 4 < 2 ? "Tcp" : "Udp",
        }),
      );
    }
    for (const [index, name] of ["night", "Night", "Ärger", "a b", "😀"].entries()) {
      clock.advance(index % 2 === 0 ? 0 : 400);
      await newSchedule({
        name,
        kind: ["sweep", "snmp", "full"][index % 3],
        is_enabled: index % 2 === 0,
        ...(index % 2 === 0 ? {} : { network_id: second.id }),
      });
      newIgnored({
        label: name,
        entity: (["host", "port", "vlan"] as const)[index % 3] as "host",
        host_id: index % 2 === 0 ? null : device.id,
        ...(index === 4 ? { network_id: second.id } : {}),
      });
    }
    for (const [index, name] of ["ann", "Bob", "bobby", "Zoe"].entries())
      await newUser({ role: (["Viewer", "Member", "Admin", "Viewer"] as const)[index] as "Viewer", name });
    await newCredential({
      name: "b",
      credential_type: { type: "SnmpV3", security_name: "s", auth_protocol: "None", priv_protocol: "None" },
    });
    await newCredential({ name: "B" });
    await newCredential({ name: "a", credential_type: snmpV1("x") });
    clock.advance(1_000);
    const { data: hosts } = await owner.get("hosts");
    for (const index of [2, 0, 5]) {
      clock.advance(1_000);
      await expectOk(owner.put(`hosts/${hosts[index].id}`, { ...hosts[index], description: "changed" }));
    }
    at = instant();
    // Later changes reverse the current order.
    for (const [index, host] of [...hosts.entries()].reverse())
      await expectOk(
        owner.put(`hosts/${host.id}`, {
          ...host,
          name: `${9 - index}`,
          hidden: !host.hidden,
          manufacturer: null,
          expected_updated_at: null,
        }),
      );
    clock.advance(1_000);
  });

  describe.each(ORDERED)("for $path", ({ path, fields, keyed }) => {
    const list = async (query: string) => (await owner.get(`${path}?limit=1000&${query}`)).data as JsonRecord[];
    const ids = (records: readonly JsonRecord[]) => records.map((record) => record.id);

    test("accepts the list's own fields, and no other", async () => {
      const response = await owner.get(`${path}?order_by=nonsense&group_by=id`);
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      const { kind } = RESOURCES.find((resource) => resource.path === path) as Resource;
      const custom = FIELD_KINDS.includes(kind.name as FieldKind) ? ["custom_fields.KEY"] : [];
      const message = `must be one of ${[...fields, ...custom].join(", ")}`;
      expect(response.body.params.issues).toEqual([
        { path: "/order_by", message, value: "nonsense" },
        { path: "/group_by", message, value: "id" },
      ]);
      expect(await owner.get(`${path}/export/csv?order_by=nonsense`)).toMatchObject(invalid({ path: "/order_by" }));
      expect(await owner.get(`${path}?order_by=created_at&order_direction=up`)).toMatchObject(
        invalid({ path: "/order_direction", value: "up" }),
      );
    });

    test("follows its kind's sort keys for every displayed string", () => {
      const { kind, responseSchema: response } = RESOURCES.find((resource) => resource.path === path) as Resource;
      const texts = fields.filter((field) => isText(response.properties[field] as TSchema));
      expect(Object.keys({ ...kind.sortKeys, ...kind.orderKeys })).toEqual(
        expect.arrayContaining([...texts, ...keyed]),
      );
    });

    test.each(fields.map((field) => [field]))(
      "equals a comparison of values, then of creation, for %s",
      async (field) => {
        for (const when of ["", `&at=${at}`]) {
          const plain = await list(when);
          expect(plain.length).toBeGreaterThan(2);
          const compare = compareBy(field, keyed.includes(field));
          // The sort is stable: equal records stay in creation order.
          expect(ids(await list(`order_by=${field}${when}`))).toEqual(ids(plain.toSorted(compare)));
          expect(ids(await list(`order_by=${field}&order_direction=desc${when}`))).toEqual(
            ids(plain.toSorted((a, b) => compare(b, a))),
          );
          // A page without streaming.
          expect(ids((await owner.get(`${path}?order_by=${field}&limit=8${when}`)).data)).toEqual(
            ids(plain.toSorted(compare)).slice(0, 8),
          );
          expect(ids(await list(`group_by=${field}&order_direction=desc${when}`))).toEqual(
            ids(plain.toSorted(compare)),
          );
          const secondary = fields.includes("name") ? "name" : (fields[1] as string);
          const grouped = plain.toSorted(
            (a, b) => compare(a, b) || compareBy(secondary, keyed.includes(secondary))(b, a),
          );
          if (field !== secondary)
            expect(ids(await list(`group_by=${field}&order_by=${secondary}&order_direction=desc${when}`))).toEqual(
              ids(grouped),
            );
          expect(
            csvRecords(
              (
                await owner.get(
                  `${path}/export/csv?group_by=${field}&order_by=${secondary}&order_direction=desc${when}`,
                )
              ).text,
            ).map((row) => row.id),
          ).toEqual(ids(await list(`group_by=${field}&order_by=${secondary}&order_direction=desc${when}`)));
        }
      },
    );

    test("is the same page by page and streamed", async () => {
      const field = keyed[0] ?? fields[1];
      for (const query of [`order_by=${field}&order_direction=desc`, `order_by=${field}&at=${at}`]) {
        const complete = await list(query);
        const pages: JsonRecord[] = [];
        for (let offset = 0; offset < complete.length; offset += 2) {
          const { data, body } = await owner.get(`${path}?${query}&limit=2&offset=${offset}`);
          expect(body.meta.pagination).toEqual({
            total_count: complete.length,
            limit: 2,
            offset,
            has_more: offset + 2 < complete.length,
          });
          pages.push(...data);
        }
        expect(pages).toEqual(complete);
        expect((await owner.get(`${path}?${query}&limit=0`)).data).toEqual(complete);
        expect((await owner.get(`${path}?${query}&limit=0&offset=2`)).data).toEqual(complete.slice(2));
      }
    });
  });

  test("applies to these lists only", async () => {
    for (const path of ["bindings", "auth/keys"]) {
      expect(await owner.get(`${path}?order_by=created_at`)).toMatchObject(
        invalid({ path: "/order_by", message: "is not a known parameter" }),
      );
    }
  });
});

describe("a list of hosts", () => {
  const appliance = applianceForEach();
  const { first, handle, instant } = appliance;
  const { newApiKey, newCredential, newHost, newIfEntry, newMember, newStranger, newSubnet, newUser, owner } =
    appliance;

  const names = async (query: string, caller = owner) => {
    const response = await caller.get(`hosts?${query}`);
    expect([query, response.status]).toEqual([query, 200]);
    const found = (response.data as JsonRecord[]).map((host) => host.name as string);
    expect(response.body.meta.pagination.total_count).toBe(found.length);
    // For any query, the stream and the table have the same rows.
    expect(((await caller.get(`hosts?${query}&limit=0`)).data as JsonRecord[]).map((host) => host.name)).toEqual(found);
    expect(csvRecords((await caller.get(`hosts/export/csv?${query}`)).text).map((row) => row.name)).toEqual(found);
    return found;
  };
  const now = () => {
    const at = instant();
    return at;
  };

  test("filters by any of the given tags: unknown and foreign ones match nothing", async () => {
    const [red, blue, unused] = [await newTag(appliance), await newTag(appliance), await newTag(appliance)].map(
      (tag) => tag.id as string,
    ) as [string, string, string];
    const host = await newHost({ name: "red", tags: [red] });
    await newHost({ name: "both", tags: [red, blue] });
    await newHost({ name: "blue", tags: [blue] });
    await newHost({ name: "none", services: [{ name: "s", service_definition: "d", tags: [unused] }] });
    const { client: stranger, ...second } = await newStranger();
    const foreign = (await expectOk(stranger.post("tags", { name: "theirs", color: "Red" }))).id;
    await expectOk(stranger.post("hosts", { network_id: second.networkId, name: "theirs", tags: [foreign] }));
    const at = now();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, tags: [blue] }));
    await expectOk(owner.delete(`tags/${red}`));
    const past = `&at=${at}`;
    expect(await names(`tag_ids=${red}${past}`)).toEqual(["red", "both"]);
    expect(await names(`tag_ids=${red},${blue}${past}`)).toEqual(["red", "both", "blue"]);
    expect(await names(`tag_ids=${blue}&tag_ids=${UNKNOWN_ID}${past}`)).toEqual(["both", "blue"]);
    for (const when of ["", past]) {
      for (const unmatched of [unused, foreign, UNKNOWN_ID, host.id, ""])
        expect(await names(`tag_ids=${unmatched}${when}`)).toEqual([]);
    }
    expect(await names(`tag_ids=${red}`)).toEqual([]);
    expect(await names(`tag_ids=${blue.toUpperCase()}`)).toEqual(["red", "both", "blue"]);
    expect(await owner.get("hosts?tag_ids=red")).toMatchObject(invalid({ path: "/tag_ids/0", value: "red" }));
  });

  test("filters by hidden or not hidden", async () => {
    const host = await newHost({ name: "hidden", hidden: true });
    await newHost({ name: "seen" });
    const at = now();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, hidden: false }));
    expect([await names("hidden=true"), await names("hidden=false"), await names("")]).toEqual([
      [],
      ["hidden", "seen"],
      ["hidden", "seen"],
    ]);
    expect([await names(`hidden=true&at=${at}`), await names(`hidden=false&at=${at}`)]).toEqual([["hidden"], ["seen"]]);
    expect(await owner.get("hosts?hidden=1")).toMatchObject(invalid({ path: "/hidden", value: "1" }));
  });

  test("searches names, host names and descriptions by word prefix, ignoring case", async () => {
    await newHost({
      name: "core-sw-01",
      hostname: "Core1.example.net",
      sys_name: "CORE",
      description: "the Ärger in the basement",
    });
    await newHost({
      name: "web",
      sys_descr: "Linux 6.1 (core team)",
      services: [{ name: "core", service_definition: "core" }],
      sys_location: "core",
    });
    await newHost({ name: "hardcore" });
    for (const [search, found] of [
      ["core", ["core-sw-01", "web"]],
      ["CORE-SW", ["core-sw-01"]],
      ["sw-0", ["core-sw-01"]],
      ["01", ["core-sw-01"]],
      ["example.net", ["core-sw-01"]],
      ["core1.ex", ["core-sw-01"]],
      ["%C3%A4rger", ["core-sw-01"]],
      ["basement%20core", ["core-sw-01"]],
      ["core+linux", ["web"]],
      ["core+linux+sw", []],
      ["asement", []],
      ["ore", []],
      ["harden", []],
      ["*", []],
      ["%22", []],
      ["core%20OR%20web", []],
      ["%20%09", ["core-sw-01", "web", "hardcore"]],
      ["", ["core-sw-01", "web", "hardcore"]],
    ] as const) {
      expect([search, await names(`search=${search}`)]).toEqual([search, [...found]]);
    }
  });

  test("searches addresses by prefix in any notation", async () => {
    await newSubnet({ cidr: "0.0.0.0/0" });
    await newSubnet({ cidr: "2001:db8::/32" });
    await newHost({
      name: "a",
      ip_addresses: [
        { ip_address: "10.2.3.4", mac_address: "AA-BB-CC-00-00-01", name: "mgmt" },
        { ip_address: "2001:db8::1" },
      ],
    });
    await newHost({ name: "b", ip_addresses: [{ ip_address: "10.20.3.4" }] });
    const c = await newHost({ name: "c", ip_addresses: [{ ip_address: "110.2.3.4" }] });
    await newIfEntry(c.id, { mac_address: "aa:bb:cd:00:00:02" });
    for (const [search, found] of [
      ["10.2.", ["a"]],
      ["10.2", ["a", "b"]],
      ["10.2.3.4", ["a"]],
      ["2.3.4", []],
      ["aa:bb", ["a", "c"]],
      ["AA:BB:CC", ["a"]],
      ["aa-bb-cd-00-00-02", ["c"]],
      ["AABB.CC00.0001", ["a"]],
      ["aabb.c", ["a", "c"]],
      ["bb:cc", []],
      ["2001:DB8:0:0::1", ["a"]],
      ["2001:db8:", ["a"]],
      ["mgmt", ["a"]],
      // Each word matches another record of the host.
      ["aa:bb+10.2.+a", ["a"]],
      ["aa:bb+110.", ["c"]],
    ] as const) {
      expect([search, await names(`search=${search}`)]).toEqual([search, [...found]]);
    }
  });

  test("searches past values at a timestamp", async () => {
    const subnet = await newSubnet({ cidr: "10.0.0.0/8" });
    const host = await newHost({
      name: "old",
      description: "router",
      ip_addresses: [{ ip_address: "10.1.1.1" }, { ip_address: "10.2.2.2" }],
    });
    const first = now();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "new", ip_addresses: [{ ip_address: "10.3.3.3" }] }));
    const second = now();
    await expectOk(owner.delete(`hosts/${host.id}`));
    const third = now();
    await newHost({ name: "later", ip_addresses: [{ ip_address: "10.1.1.1", subnet_id: subnet.id }] });
    const at = {
      [first]: ["old", "router", "10.1.", "10.2.2.2"],
      [second]: ["new", "router", "10.3."],
      [third]: [],
    } as Record<string, string[]>;
    for (const [when, words] of Object.entries(at)) {
      for (const word of ["old", "new", "router", "10.1.", "10.2.2.2", "10.3.", "later"]) {
        expect([when, word, (await names(`search=${word}&at=${when}`)).length]).toEqual([
          when,
          word,
          words.includes(word) ? 1 : 0,
        ]);
      }
    }
    expect([await names("search=10.1."), await names("search=router"), await names("search=old")]).toEqual([
      ["later"],
      [],
      [],
    ]);
  });

  test("limits a search in words and characters", async () => {
    await newHost({ name: "a b c d e f g h i j k" });
    expect(await names("search=a+b+c+d+e+f+g+h+i+j")).toHaveLength(1);
    expect(await names(`search=${Array(100).fill("a").join("+")}`)).toHaveLength(1);
    const response = await owner.get("hosts?search=a+b+c+d+e+f+g+h+i+j+k");
    expect(response).toMatchObject(
      invalid({ path: "/search", message: "must have at most 10 different words", value: "a b c d e f g h i j k" }),
    );
    expect(await owner.get(`hosts/export/csv?search=${"a".repeat(201)}`)).toMatchObject(invalid({ path: "/search" }));
    expect(await owner.get("hosts?search=a&search=b")).toMatchObject(
      invalid({ path: "/search", message: "is given more than once" }),
    );
    expect(await names(`search=${encodeURIComponent("😀".repeat(200))}`)).toEqual([]);
  });

  test("combines all filters", async () => {
    const tag = (await newTag(appliance)).id as string;
    const other = await newNetwork(appliance);
    for (let bits = 0; bits < 16; bits += 1) {
      await newHost({
        name: `${bits & 1 ? "sw" : "rt"} ${bits}`,
        hidden: (bits & 2) > 0,
        tags: bits & 4 ? [tag] : [],
        network_id: bits & 8 ? other.id : first.networkId,
      });
    }
    expect(await names(`search=sw&hidden=true&tag_ids=${tag}&network_id=${other.id}&order_by=name`)).toEqual(["sw 15"]);
    expect(await names(`search=sw&hidden=false&tag_ids=${tag}&order_by=name&order_direction=desc`)).toEqual([
      "sw 5",
      "sw 13",
    ]);
    expect(await names(`search=1&tag_ids=${tag}`)).toEqual(["rt 12", "sw 13", "rt 14", "sw 15"]);
  });

  test("omits the four kinds of children unless requested, even as a table", async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    const credential = await newCredential();
    const host = await newHost({
      ip_addresses: [{ ip_address: "10.2.3.4" }],
      ports: [tcp(80), udp(53)],
      services: [{ name: "=web", service_definition: "nginx" }],
      credential_assignments: [{ credential_id: credential.id }],
    });
    await newIfEntry(host.id, { if_index: 1, if_descr: "GigabitEthernet0/1", if_name: "Gi0/1" });
    await newIfEntry(host.id, { if_index: 2, if_descr: "lo" });
    const complete = (await owner.get("hosts")).data[0] as JsonRecord;
    expect((await owner.get("hosts?include_children=true")).data).toEqual([complete]);
    const { interfaces, ip_addresses, ports, services, ...withoutChildren } = complete;
    expect([interfaces, ip_addresses, ports, services].map((children: JsonRecord[]) => children.length)).toEqual([
      2, 1, 2, 1,
    ]);
    const at = now();
    for (const query of ["", "&limit=0", `&at=${at}`, "&order_by=name", `&limit=0&order_by=name&at=${at}`]) {
      expect((await owner.get(`hosts?include_children=false${query}`)).data).toEqual([withoutChildren]);
    }
    for (const query of ["", "&limit=0", `&at=${at}`, "&order_by=name&include_children=false", `&limit=0&at=${at}`]) {
      expect((await owner.get(`hosts?children=ip_addresses${query}`)).data).toEqual([
        { ...withoutChildren, ip_addresses },
      ]);
    }
    for (const query of ["children=", "children=ports", "children=ip_addresses&children=ip_addresses"])
      expect((await owner.get(`hosts?${query}`)).status).toBe(400);
    const [row] = csvRecords((await owner.get("hosts/export/csv")).text) as [JsonRecord];
    expect(row).toMatchObject({
      credential_assignments: credential.id,
      interfaces: "Gi0/1;lo",
      ip_addresses: "10.2.3.4",
      ports: "80/Tcp;53/Udp",
      services: "'=web",
    });
    const [ownRow] = csvRecords((await owner.get("hosts/export/csv?include_children=false")).text) as [JsonRecord];
    const { interfaces: _i, ip_addresses: _a, ports: _p, services: _s, ...rest } = row;
    expect(ownRow).toEqual(rest);
    const document = (await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as JsonRecord;
    const { schema } = document.paths["/api/v1/hosts"].get.responses["200"].content["application/json"];
    expect(schema.properties.data.items).toEqual({ $ref: "#/components/schemas/ListedHost" });
    const listed = document.components.schemas.ListedHost;
    for (const child of ["interfaces", "ip_addresses", "ports", "services"]) {
      expect(listed.required).not.toContain(child);
      expect(listed.properties[child].description).toContain("include_children=false");
    }
  });

  test("reveals nothing of networks out of reach, regardless of the query", async () => {
    const tag = (await newTag(appliance)).id as string;
    const hiddenNetwork = await newNetwork(appliance);
    await newSubnet({ cidr: "10.0.0.0/8", network_id: hiddenNetwork.id });
    const host = await newHost({
      name: "secret",
      network_id: hiddenNetwork.id,
      tags: [tag],
      hidden: true,
      ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "aa:bb:cc:00:00:01" }],
    });
    await newHost({ name: "seen" });
    const at = now();
    const member = (await newMember()).client;
    const key = newApiKey({ networkIds: [first.networkId] }).client;
    const nowhere = (await newUser({ role: "Viewer" })).client;
    for (const caller of [member, key, nowhere]) {
      for (const when of ["", `&at=${at}`]) {
        for (const query of [
          "search=secret",
          "search=10.2.",
          "search=aa:bb",
          `tag_ids=${tag}`,
          "hidden=true",
          `network_id=${hiddenNetwork.id}`,
          `search=secret&ids=${host.id}`,
          "hidden=true&order_by=name",
        ]) {
          expect([query, await names(`${query}${when}`, caller)]).toEqual([query, []]);
        }
        expect(await names(`order_by=name&order_direction=desc${when}`, caller)).toEqual(
          caller === nowhere ? [] : ["seen"],
        );
        expect((await caller.get(`networks?search=network${when}`)).data).toHaveLength(caller === nowhere ? 0 : 1);
      }
    }
    const { client: strangerClient } = await newStranger();
    for (const query of ["search=secret", "search=10.2.", `tag_ids=${tag}`, "hidden=true"])
      expect(await names(query, strangerClient)).toEqual([]);
  });
});

describe("other lists", () => {
  const appliance = applianceForEach();
  const { first, instant, owner } = appliance;
  const { newHost, newIfEntry, newSubnet, newMember } = appliance;

  test("filter services by exact definition", async () => {
    const service = (name: string, service_definition: string) => ({ name, service_definition });
    const host = await newHost({
      services: [service("a", "nginx"), service("b", "Nginx"), service("c", "nginx plus"), service("d", "nginx")],
    });
    const at = instant();
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, services: [service("a", "nginx")] }));
    const names = async (query: string) =>
      ((await owner.get(`services?${query}`)).data as JsonRecord[]).map((service) => service.name);
    expect(await names(`service_definition=nginx&at=${at}`)).toEqual(["a", "d"]);
    expect(await names(`service_definition=Nginx&at=${at}`)).toEqual(["b"]);
    expect(await names(`service_definition=nginx&host_id=${host.id}`)).toEqual(["a"]);
    expect(await names("service_definition=nginx+plus")).toEqual([]);
    expect(await names(`service_definition=nginx&host_id=${UNKNOWN_ID}&at=${at}`)).toEqual([]);
    expect(
      csvRecords((await owner.get(`services/export/csv?service_definition=nginx&at=${at}`)).text).map(
        (row) => row.name,
      ),
    ).toEqual(["a", "d"]);
    expect((await owner.get("services?service_definition=")).status).toBe(400);
  });

  test("filter addresses by subnet, now and in the past", async () => {
    const [near, far] = [await newSubnet({ cidr: "10.1.0.0/24" }), await newSubnet({ cidr: "10.2.0.0/24" })];
    const host = await newHost({
      ip_addresses: ["10.1.0.10", "10.1.0.9", "10.2.0.1"].map((ip_address) => ({ ip_address })),
    });
    const otherHost = await newHost({ ip_addresses: [{ ip_address: "10.1.0.1" }] });
    const at = instant();
    await expectOk(
      owner.put(`hosts/${host.id}`, {
        ...host,
        ip_addresses: [{ ip_address: "10.1.0.9" }, { ip_address: "10.2.0.77" }],
      }),
    );
    const second = await newNetwork(appliance);
    const hiddenSubnet = await newSubnet({ cidr: "10.1.0.0/24", network_id: second.id });
    await newHost({ network_id: second.id, ip_addresses: [{ ip_address: "10.1.0.200" }] });
    const member = (await newMember()).client;
    const found = async (query: string, caller = owner) => {
      const response = await caller.get(`ip-addresses?${query}`);
      expect([query, response.status]).toEqual([query, 200]);
      const addresses = (response.data as JsonRecord[]).map((address) => address.ip_address);
      expect(response.body.meta.pagination.total_count).toBe(addresses.length);
      expect(
        ((await caller.get(`ip-addresses?${query}&limit=0`)).data as JsonRecord[]).map((address) => address.ip_address),
      ).toEqual(addresses);
      expect(
        csvRecords((await caller.get(`ip-addresses/export/csv?${query}`)).text).map((row) => row.ip_address),
      ).toEqual(addresses);
      return addresses;
    };
    for (const caller of [owner, member]) {
      expect(await found(`subnet_id=${near.id}`, caller)).toEqual(["10.1.0.9", "10.1.0.1"]);
      expect(await found(`subnet_id=${near.id}&at=${at}`, caller)).toEqual(["10.1.0.10", "10.1.0.9", "10.1.0.1"]);
      expect(await found(`subnet_id=${near.id}&at=${at}&order_by=ip_address`, caller)).toEqual([
        "10.1.0.1",
        "10.1.0.9",
        "10.1.0.10",
      ]);
      expect(await found(`subnet_id=${near.id}&order_by=ip_address&order_direction=desc`, caller)).toEqual([
        "10.1.0.9",
        "10.1.0.1",
      ]);
      expect(await found(`subnet_id=${near.id}&host_id=${otherHost.id}&at=${at}`, caller)).toEqual(["10.1.0.1"]);
      expect(await found(`subnet_id=${(far.id as string).toUpperCase()}`, caller)).toEqual(["10.2.0.77"]);
      expect(await found(`subnet_id=${hiddenSubnet.id}`, caller)).toEqual(caller === owner ? ["10.1.0.200"] : []);
      for (const unmatched of [UNKNOWN_ID, host.id, first.networkId])
        for (const when of ["", `&at=${at}`]) expect(await found(`subnet_id=${unmatched}${when}`, caller)).toEqual([]);
    }
    expect(await owner.get("ip-addresses?subnet_id=10.1.0.0/24")).toMatchObject(
      invalid({ path: "/subnet_id", value: "10.1.0.0/24" }),
    );
  });

  test("search addresses by address, MAC address and name, each address separately", async () => {
    await newSubnet({ cidr: "0.0.0.0/0" });
    await newSubnet({ cidr: "2001:db8::/32" });
    const host = await newHost({
      name: "10.2.host",
      ip_addresses: [
        { ip_address: "10.2.3.4", mac_address: "aa:bb:cc:00:00:01", name: "mgmt vlan-7" },
        { ip_address: "10.20.3.4" },
        { ip_address: "2001:db8::1", name: "Mgmt" },
      ],
    });
    await newIfEntry(host.id, { mac_address: "aa:bb:cc:00:00:02" });
    await newHost({ ip_addresses: [{ ip_address: "110.2.3.4", mac_address: "aa:bb:cd:00:00:01" }] });
    const at = instant();
    const renamed = host.ip_addresses[0] as JsonRecord;
    await expectOk(
      owner.put(`ip-addresses/${renamed.id}`, {
        host_id: host.id,
        ip_address: "10.2.3.4",
        mac_address: null,
        name: "core",
      }),
    );
    const found = async (query: string) => {
      const { data, body } = await owner.get(`ip-addresses?${query}`);
      expect(body.meta.pagination.total_count).toBe(data.length);
      expect(csvRecords((await owner.get(`ip-addresses/export/csv?${query}`)).text).map((row) => row.id)).toEqual(
        data.map((address: JsonRecord) => address.id),
      );
      return data.map((address: JsonRecord) => address.ip_address);
    };
    for (const [search, past, present] of [
      ["10.2.", ["10.2.3.4"], ["10.2.3.4"]],
      ["10.2", ["10.2.3.4", "10.20.3.4"], ["10.2.3.4", "10.20.3.4"]],
      ["aa:bb", ["10.2.3.4", "110.2.3.4"], ["110.2.3.4"]],
      ["AABB.CC", ["10.2.3.4"], []],
      ["mgmt", ["10.2.3.4", "2001:db8::1"], ["2001:db8::1"]],
      ["core", [], ["10.2.3.4"]],
      ["10.+mgmt", ["10.2.3.4"], []],
      // On one address, not on several of its host.
      ["10.20.+mgmt", [], []],
      ["2001:DB8:0::1", ["2001:db8::1"], ["2001:db8::1"]],
      ["host", [], []],
    ] as const) {
      expect([search, await found(`search=${search}&at=${at}`)]).toEqual([search, [...past]]);
      expect([search, await found(`search=${search}`)]).toEqual([search, [...present]]);
    }
    expect(await found(`search=10.&host_id=${host.id}&order_by=ip_address&order_direction=desc`)).toEqual([
      "10.20.3.4",
      "10.2.3.4",
    ]);
  });

  test.each([["tags"], ["networks"]])("search %s by name and description", async (path) => {
    const create = path === "tags" ? newTag : newNetwork;
    const first = await create(appliance, { name: "Production site", description: "critical; never touch" });
    await create(appliance, { name: "Lab", description: "site B" });
    const at = instant();
    await expectOk(owner.put(`${path}/${first.id}`, { ...first, description: null }));
    await expectOk(owner.delete(`${path}/${first.id}`));
    const names = async (query: string) =>
      ((await owner.get(`${path}?${query}`)).data as JsonRecord[]).map((record) => record.name);
    expect(await names(`search=SITE&at=${at}&order_by=name`)).toEqual(["Lab", "Production site"]);
    expect(await names(`search=crit+prod&at=${at}`)).toEqual(["Production site"]);
    expect([await names("search=crit"), await names("search=site")]).toEqual([[], ["Lab"]]);
    expect((await owner.get(`${path}?search=a+b+c+d+e+f+g+h+i+j+k`)).status).toBe(400);
  });

  test("accept a search only for kinds with names, so not for bindings", async () => {
    expect(await owner.get("bindings?search=a")).toMatchObject(
      invalid({ path: "/search", message: "is not a known parameter" }),
    );
  });
});
