// Contract of GET /api/v1/if-entries (handbook: api, "Lists"): items, filters, and pages.

import { beforeAll, describe, expect, test } from "bun:test";
import { newAppliance } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, newHost, newSubnet, newVlan } from "../support/appliance/factories.ts";
import { newIfEntry } from "../support/appliance/inventory.ts";
import { tick } from "../support/appliance/past.ts";
import { envelopeProblems, expectRefusal, ifEntryShape, issuePaths, problems } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";

const appliance = applianceForAll();
const { first, newNetwork, owner, newStranger } = appliance;
let networks: [string, string];
let hosts: [JsonRecord, JsonRecord, JsonRecord];
/** Two of the first host and one each of the second (same network) and third (other network), in this order. */
let entries: [JsonRecord, JsonRecord, JsonRecord, JsonRecord];
let foreign: { networkId: string; host: JsonRecord; entry: JsonRecord };

beforeAll(async () => {
  const second = await newNetwork();
  networks = [first.networkId, second.id];
  hosts = [await newHost(appliance), await newHost(appliance), await newHost(appliance, { network_id: second.id })];
  const addEntry = async (host: JsonRecord) => {
    tick(appliance);
    return newIfEntry(appliance, host.id);
  };
  entries = [await addEntry(hosts[0]), await addEntry(hosts[0]), await addEntry(hosts[1]), await addEntry(hosts[2])];
  const { client: otherClient, ...other } = await newStranger("Other");
  const host = await newHost(appliance, { network_id: other.networkId }, otherClient);
  foreign = { networkId: other.networkId, host, entry: await newIfEntry(appliance, host.id, {}, otherClient) };
  tick(appliance);
});

/** Indexes of `entries` in a list, in its order. */
async function indexesOf(query: string): Promise<number[]> {
  const response = await owner.get(`if-entries${query}`);
  expect([query, response.status, envelopeProblems(response)]).toEqual([query, 200, []]);
  expect(response.body.meta.pagination.total_count).toBe(response.data.length);
  return response.data.map((item: JsonRecord) => entries.findIndex((entry) => entry.id === item.id));
}

describe("an item", () => {
  test("has every optional field with a value, as written", async () => {
    const appliance = await newAppliance();
    const { networkId } = appliance.first;
    await newSubnet(appliance, { cidr: "192.0.2.0/24" });
    const vlan = await newVlan(appliance);
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "192.0.2.1" }] });
    const far = await newHost(appliance);
    const fields = {
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
    await newIfEntry(appliance, host.id, fields);
    const response = await appliance.owner.get(`if-entries?network_id=${networkId}`);
    expect(problems(response.data[0], ifEntryShape)).toEqual([]);
    expect(response.data[0]).toMatchObject({ ...fields, host_id: host.id, network_id: networkId });
    await appliance.close();
  });
});

describe("the filters", () => {
  test("match by host", async () => {
    expect(await indexesOf(`?host_id=${hosts[0].id}`)).toEqual([0, 1]);
    expect(await indexesOf(`?host_id=${hosts[2].id.toUpperCase()}`)).toEqual([3]);
  });

  test("accept ids repeated, comma-separated, bracketed, mixed, in upper case and duplicated", async () => {
    const [a, b, c] = entries.map((entry) => entry.id);
    expect(await indexesOf(`?ids=${a}`)).toEqual([0]);
    expect(await indexesOf(`?ids=${c}&ids=${a}`)).toEqual([0, 2]);
    expect(await indexesOf(`?ids=${c},${a}`)).toEqual([0, 2]);
    expect(await indexesOf(`?ids=${c}%2C${a}`)).toEqual([0, 2]);
    expect(await indexesOf(`?ids[]=${c}&ids[]=${a}`)).toEqual([0, 2]);
    expect(await indexesOf(`?ids%5B%5D=${c}`)).toEqual([2]);
    expect(await indexesOf(`?ids=${a},${b}&ids[]=${c}`)).toEqual([0, 1, 2]);
    expect(await indexesOf(`?ids=${a.toUpperCase()}`)).toEqual([0]);
    expect(await indexesOf(`?ids=${a}&ids=${a}`)).toEqual([0]);
  });

  test("match nothing on an unknown, foreign or other kind's id", async () => {
    for (const id of [UNKNOWN, foreign.host.id, networks[0]]) expect(await indexesOf(`?host_id=${id}`)).toEqual([]);
    for (const id of [UNKNOWN, foreign.networkId, hosts[0].id])
      expect(await indexesOf(`?network_id=${id}`)).toEqual([]);
    for (const id of [UNKNOWN, foreign.entry.id, hosts[0].id]) expect(await indexesOf(`?ids=${id}`)).toEqual([]);
    expect(await indexesOf(`?ids=${UNKNOWN},${entries[1].id}`)).toEqual([1]);
  });

  test("are refused with 400, name and value if malformed", async () => {
    for (const name of ["host_id", "network_id", "ids"]) {
      for (const value of ["abc", "5", `${UNKNOWN}x`, `{${UNKNOWN}}`, UNKNOWN.replaceAll("-", ""), "null"]) {
        const { body } = await expectRefusal(
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
      const response = await owner.get(`if-entries${query}`);
      if (response.status === 200) expect(response.data).toEqual([]);
      else expect(response.body.code).toBe("validation_failed");
    }
  });

  test("accept 300 ids, and refuse 301", async () => {
    const unknownIds = Array.from(
      { length: 300 },
      (_, index) => `0192f3a4-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
    );
    const idsWithOne = [...unknownIds.slice(1), entries[2].id];
    expect(await indexesOf(`?ids=${idsWithOne.join(",")}`)).toEqual([2]);
    expect(await indexesOf(`?${idsWithOne.map((id) => `ids=${id}`).join("&")}`)).toEqual([2]);
    for (const query of [
      `ids=${[...idsWithOne, UNKNOWN].join(",")}`,
      [...idsWithOne, UNKNOWN].map((id) => `ids[]=${id}`).join("&"),
    ]) {
      const { body } = await expectRefusal(owner.get(`if-entries?${query}`), 400, "validation_failed");
      expect(body.params.issues[0].path).toBe("/ids");
      expect(body.params.issues[0].message).toContain("300");
    }
  });
});

describe("the page", () => {
  test("follows limit and offset and reports the total, even with filters", async () => {
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
        const response = await owner.get(`if-entries?limit=${limit}&offset=${offset}${filter}`);
        const expected = all.slice(offset, limit === 0 ? undefined : offset + limit);
        expect(response.data.map((item: JsonRecord) => item.id)).toEqual(expected.map((index) => entries[index]?.id));
        expect(response.body.meta.pagination).toEqual({
          has_more: limit !== 0 && offset + limit < all.length,
          limit,
          offset,
          total_count: all.length,
        });
        expect(envelopeProblems(response)).toEqual([]);
      }
    }
  });
});
