// Contract of GET /api/v1/if-entries (handbook: api, "Lists"): items, filters, pages, reach, and `at`.

import { beforeAll, describe, expect, test } from "bun:test";
import { newAppliance } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { newHost, newSubnet, newVlan, type Wire } from "../support/appliance/factories.ts";
import { newIfEntry } from "../support/appliance/inventory.ts";
import { tick } from "../support/appliance/past.ts";
import {
  envelopeProblems,
  ifEntryShape,
  issuePaths,
  problems,
  refused,
  succeeded,
} from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { anonymous, first, newApiKey, newNetwork, newUser, owner, newStranger } = appliance;
let networks: [string, string];
let hosts: [Wire, Wire, Wire];
/** Two of the first host and one each of the second (same network) and third (other network), in this order. */
let entries: [Wire, Wire, Wire, Wire];
let foreign: { networkId: string; host: Wire; entry: Wire };

beforeAll(async () => {
  const second = await newNetwork();
  networks = [first.networkId, second.id];
  hosts = [await newHost(appliance), await newHost(appliance), await newHost(appliance, { network_id: second.id })];
  const make = async (host: Wire) => {
    tick(appliance);
    return newIfEntry(appliance, host.id);
  };
  entries = [await make(hosts[0]), await make(hosts[0]), await make(hosts[1]), await make(hosts[2])];
  const { client: theirs, ...other } = await newStranger("Other");
  const host = await newHost(appliance, { network_id: other.networkId }, theirs);
  foreign = { networkId: other.networkId, host, entry: await newIfEntry(appliance, host.id, {}, theirs) };
  tick(appliance);
});

function list(query = "", by = owner): Promise<Wire[]> {
  return succeeded(by.get(`if-entries${query}`));
}

/** Indexes of `entries` in a list, in its order. */
async function found(query: string, by = owner): Promise<number[]> {
  const answer = await by.get(`if-entries${query}`);
  expect([query, answer.status, envelopeProblems(answer)]).toEqual([query, 200, []]);
  expect(answer.body.meta.pagination.total_count).toBe(answer.data.length);
  return answer.data.map((item: Wire) => entries.findIndex((entry) => entry.id === item.id));
}

describe("an item", () => {
  test("has the required fields of 2.9, and omits an optional one without a value instead of null", async () => {
    const [bare] = await list(`?ids=${entries[0].id}`);
    expect(problems(bare, ifEntryShape)).toEqual([]);
    expect(Object.values(bare as Wire)).not.toContain(null);
    for (const field of [
      ..."valid_to lineage_id if_alias if_name speed_bps mac_address ip_address_id".split(" "),
      ..."native_vlan_id neighbor lldp_chassis_id lldp_port_id cdp_address first_discovery_id".split(" "),
    ]) {
      expect([field, Object.hasOwn(bare as Wire, field)]).toEqual([field, false]);
    }
    expect(bare).toMatchObject({
      admin_status: "Up",
      oper_status: "Unknown",
      if_type: 1,
      last_seen_at: entries[0].created_at,
      valid_from: entries[0].created_at,
    });
  });

  test("has every optional field with a value, as written", async () => {
    const appliance = await newAppliance();
    const { networkId } = appliance.first;
    await newSubnet(appliance, { cidr: "192.0.2.0/24" });
    const vlan = await newVlan(appliance);
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.1" }] });
    const far = await newHost(appliance);
    const given = {
      if_index: 7,
      if_descr: "GigabitEthernet0/7",
      if_name: "Gi0/7",
      if_alias: "uplink",
      if_type: 6,
      admin_status: "Testing",
      oper_status: "LowerLayerDown",
      speed_bps: 100_000_000_000,
      mac_address: "00:00:5e:00:53:07",
      ip_address_id: host.ip_addresses[0].id,
      cdp_address: "192.0.2.9",
      cdp_device_id: "far",
      cdp_platform: "platform",
      cdp_port_id: "Gi0/1",
      fdb_macs: ["00:00:5e:00:53:08"],
      lldp_chassis_id: { subtype: "MacAddress", value: "00:00:5e:00:53:10" },
      lldp_port_id: { subtype: "InterfaceName", value: "Gi0/1" },
      lldp_mgmt_addr: "192.0.2.9",
      lldp_port_desc: "to you",
      lldp_sys_desc: "a switch",
      lldp_sys_name: "far.example",
      native_vlan_id: vlan.id,
      vlan_ids: [vlan.id],
      neighbor: { type: "Host", id: far.id },
    };
    await newIfEntry(appliance, host.id, given);
    const answer = await appliance.owner.get(`if-entries?network_id=${networkId}`);
    expect(problems(answer.data[0], ifEntryShape)).toEqual([]);
    expect(answer.data[0]).toMatchObject({ ...given, host_id: host.id, network_id: networkId });
    await appliance.close();
  });

  test("is the same to an API key", async () => {
    const { client } = newApiKey({ permissions: "Viewer" });
    expect(await list("", client)).toEqual(await list());
  });
});

describe("the filters", () => {
  test("default to none: everything in reach, by creation", async () => {
    expect(await found("")).toEqual([0, 1, 2, 3]);
  });

  test("are by host", async () => {
    expect(await found(`?host_id=${hosts[0].id}`)).toEqual([0, 1]);
    expect(await found(`?host_id=${hosts[2].id.toUpperCase()}`)).toEqual([3]);
  });

  test("are by network", async () => {
    expect(await found(`?network_id=${networks[0]}`)).toEqual([0, 1, 2]);
    expect(await found(`?network_id=${networks[1]}`)).toEqual([3]);
  });

  test("accept ids repeated, comma-separated, bracketed, mixed, in upper case and duplicated", async () => {
    const [a, b, c] = entries.map((entry) => entry.id);
    expect(await found(`?ids=${a}`)).toEqual([0]);
    expect(await found(`?ids=${c}&ids=${a}`)).toEqual([0, 2]);
    expect(await found(`?ids=${c},${a}`)).toEqual([0, 2]);
    expect(await found(`?ids=${c}%2C${a}`)).toEqual([0, 2]);
    expect(await found(`?ids[]=${c}&ids[]=${a}`)).toEqual([0, 2]);
    expect(await found(`?ids%5B%5D=${c}`)).toEqual([2]);
    expect(await found(`?ids=${a},${b}&ids[]=${c}`)).toEqual([0, 1, 2]);
    expect(await found(`?ids=${a.toUpperCase()}`)).toEqual([0]);
    expect(await found(`?ids=${a}&ids=${a}`)).toEqual([0]);
  });

  test("are combined with AND", async () => {
    const [a, , c, d] = entries.map((entry) => entry.id);
    expect(await found(`?host_id=${hosts[0].id}&network_id=${networks[0]}`)).toEqual([0, 1]);
    expect(await found(`?host_id=${hosts[0].id}&network_id=${networks[1]}`)).toEqual([]);
    expect(await found(`?host_id=${hosts[0].id}&ids=${a},${c}`)).toEqual([0]);
    expect(await found(`?network_id=${networks[1]}&ids=${a},${d}`)).toEqual([3]);
    expect(await found(`?host_id=${hosts[1].id}&network_id=${networks[0]}&ids=${a},${c},${d}`)).toEqual([2]);
  });

  test("on an unknown, foreign or other kind's id match nothing", async () => {
    for (const id of [UNKNOWN, foreign.host.id, networks[0]]) expect(await found(`?host_id=${id}`)).toEqual([]);
    for (const id of [UNKNOWN, foreign.networkId, hosts[0].id]) expect(await found(`?network_id=${id}`)).toEqual([]);
    for (const id of [UNKNOWN, foreign.entry.id, hosts[0].id]) expect(await found(`?ids=${id}`)).toEqual([]);
    expect(await found(`?ids=${UNKNOWN},${entries[1].id}`)).toEqual([1]);
  });

  test("that are malformed are 400 with name and value", async () => {
    for (const name of ["host_id", "network_id", "ids"]) {
      for (const value of ["abc", "5", `${UNKNOWN}x`, `{${UNKNOWN}}`, UNKNOWN.replaceAll("-", ""), "null"]) {
        const { body } = await refused(
          owner.get(`if-entries?${name}=${encodeURIComponent(value)}`),
          400,
          "validation_failed",
        );
        expect(body.params.issues[0].path).toStartWith(`/${name}`);
        expect(JSON.stringify(body.params.issues[0].value)).toContain(value);
      }
    }
    expect(await issuePaths(owner.get("if-entries?host_id="))).toEqual(["/host_id"]);
    expect(await issuePaths(owner.get(`if-entries?host_id=${UNKNOWN}&host_id=${UNKNOWN}`))).toEqual(["/host_id"]);
    expect(await issuePaths(owner.get("if-entries?host=1"))).toEqual(["/host"]);
  });

  test("still apply when a list of ids is empty", async () => {
    for (const query of ["?ids=", "?ids[]=", "?ids=,"]) {
      const answer = await owner.get(`if-entries${query}`);
      if (answer.status === 200) expect(answer.data).toEqual([]);
      else expect(answer.body.code).toBe("validation_failed");
    }
  });

  test("accept 300 ids, and refuse 301", async () => {
    const many = Array.from(
      { length: 300 },
      (_, index) => `0192f3a4-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
    );
    const withOne = [...many.slice(1), entries[2].id];
    expect(await found(`?ids=${withOne.join(",")}`)).toEqual([2]);
    expect(await found(`?${withOne.map((id) => `ids=${id}`).join("&")}`)).toEqual([2]);
    for (const query of [
      `ids=${[...withOne, UNKNOWN].join(",")}`,
      [...withOne, UNKNOWN].map((id) => `ids[]=${id}`).join("&"),
    ]) {
      const { body } = await refused(owner.get(`if-entries?${query}`), 400, "validation_failed");
      expect(body.params.issues[0].path).toBe("/ids");
      expect(body.params.issues[0].message).toContain("300");
    }
  });
});

describe("the page", () => {
  test("follows limit and offset and reports the total, with filters too", async () => {
    for (const [filter, all] of [
      ["", [0, 1, 2, 3]],
      [`&network_id=${networks[0]}`, [0, 1, 2]],
      [`&host_id=${hosts[0].id}`, [0, 1]],
      [`&ids=${entries[1].id},${entries[3].id}`, [1, 3]],
    ] as const) {
      for (const [limit, offset] of [
        [1, 0],
        [1, 1],
        [2, 1],
        [0, 0],
        [0, 1],
        [1_000, 0],
        [1, 4],
      ] as const) {
        const answer = await owner.get(`if-entries?limit=${limit}&offset=${offset}${filter}`);
        const wanted = all.slice(offset, limit === 0 ? undefined : offset + limit);
        expect(answer.data.map((item: Wire) => item.id)).toEqual(wanted.map((place) => entries[place]?.id));
        expect(answer.body.meta.pagination).toEqual({
          has_more: limit !== 0 && offset + limit < all.length,
          limit,
          offset,
          total_count: all.length,
        });
        expect(envelopeProblems(answer)).toEqual([]);
      }
    }
  });

  test("is 50 by default, 1,000 at most, and refused outside that range", async () => {
    expect((await owner.get("if-entries")).body.meta.pagination).toEqual({
      has_more: false,
      limit: 50,
      offset: 0,
      total_count: 4,
    });
    for (const limit of ["1001", "-1", "1.5", "abc", "", "1e1"])
      expect(await issuePaths(owner.get(`if-entries?limit=${limit}`))).toEqual(["/limit"]);
    for (const offset of ["-1", "0.0", "abc", "", "2147483648"])
      expect(await issuePaths(owner.get(`if-entries?offset=${offset}`))).toEqual(["/offset"]);
  });
});

describe("reach", () => {
  test("is limited to the networks of the user, and of the key", async () => {
    const member = await newUser({ role: "Viewer", networkIds: [networks[1]] });
    expect(await found("", member.client)).toEqual([3]);
    expect(await found(`?host_id=${hosts[0].id}`, member.client)).toEqual([]);
    expect(await found(`?network_id=${networks[0]}`, member.client)).toEqual([]);
    expect(await found(`?ids=${entries[0].id},${entries[3].id}`, member.client)).toEqual([3]);
    const nobody = await newUser({ role: "Member", networkIds: [] });
    expect(await found("", nobody.client)).toEqual([]);
    expect(await found("", newApiKey({ networkIds: [networks[0]] }).client)).toEqual([0, 1, 2]);
    expect(await found("", newApiKey({ userId: member.id, networkIds: networks }).client)).toEqual([3]);
    expect(await found("", newApiKey({ networkIds: [] }).client)).toEqual([]);
  });

  test("requires credentials, before anything else is checked", async () => {
    for (const query of ["", "?limit=abc"])
      await refused(anonymous.get(`if-entries${query}`), 401, "auth_not_authenticated");
  });
});

describe("at", () => {
  test("returns the state of that instant, with every filter", async () => {
    const at = entries[2].created_at;
    expect(await found(`?at=${at}`)).toEqual([0, 1, 2]);
    expect(await found(`?at=${at}&host_id=${hosts[0].id}`)).toEqual([0, 1]);
    expect(await found(`?at=${at}&network_id=${networks[1]}`)).toEqual([]);
    expect(await found(`?at=${at}&ids=${entries[1].id},${entries[3].id}`)).toEqual([1]);
    expect(await found(`?at=${entries[0].created_at}`)).toEqual([0]);
    expect(await found("?at=2001-01-01T00:00:00Z")).toEqual([]);
    expect(await found("?at=2101-01-01T00:00:00Z")).toEqual([0, 1, 2, 3]);
  });

  test("returns items of shape 2.9, with valid_to if the version ended, and the instant in meta", async () => {
    const appliance = await newAppliance();
    const host = await newHost(appliance);
    tick(appliance);
    const entry = await newIfEntry(appliance, host.id, { if_alias: "old" });
    tick(appliance);
    const changed = await succeeded(
      appliance.owner.put(`if-entries/${entry.id}`, {
        host_id: host.id,
        if_index: entry.if_index,
        if_descr: entry.if_descr,
        if_alias: "new",
      }),
    );
    tick(appliance);
    const answer = await appliance.owner.get(`if-entries?at=${entry.valid_from}`);
    expect(envelopeProblems(answer)).toEqual([]);
    expect(answer.body.meta.at).toBe(entry.valid_from);
    expect(problems(answer.data[0], ifEntryShape)).toEqual([]);
    expect(answer.data[0]).toEqual({ ...entry, valid_to: changed.valid_from });
    await appliance.close();
  });
});
