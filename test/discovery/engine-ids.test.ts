// SNMP engine ids: read with the system group or known from SNMPv3, one of the signs of a host, and the proof that
// machines without serial numbers are two.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { pollDevice } from "../../src/discovery/snmp/ask-device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { patientTimers } from "../support/injected/patient-timers.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, numbered } from "../support/reconcile/sightings.ts";
import { startAgent } from "../support/snmp/agent.ts";
import { closeAfterEach } from "../support/snmp/closed-after-each.ts";
import { community, SHORT_TIMEOUTS, user } from "../support/snmp/sessions.ts";
import { ann, startV3Agent } from "../support/snmp/v3-agent.ts";
import { viewOf } from "../support/snmp/view.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { get, hosts, holders } = inventoryOf(appliance);
const closeAfterTest = closeAfterEach();

/** As net-snmp draws it, and as a person chooses it. */
const randomId = (number: number) => `80001f8880e5a1b2c3d4e5f6${String(number).padStart(2, "0")}`;
const chosenId = (number: number) => `8000000904726f6f662d3${number}`;

describe("an engine id is read", () => {
  const SYSTEM = { "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.9.1" }, "1.3.6.1.2.1.1.5.0": "sw-1" };
  const ENGINE_ID = Buffer.from("800007db03001b21000001", "hex");
  const ENGINE = "1.3.6.1.6.3.10.2.1.1.0";
  const poll = async (target: { address: string; port: number }, version: "SnmpV1" | "SnmpV2c" | "SnmpV3") => {
    const outcome = await pollDevice(target, {
      credentials: [version === "SnmpV3" ? user("ann") : community("public", version)],
      remembered: null,
      signal: new AbortController().signal,
      timers: patientTimers,
      random: seededRandom(1),
      trialTimeouts: SHORT_TIMEOUTS,
      timeouts: SHORT_TIMEOUTS,
    });
    return outcome.ok ? outcome.device : null;
  };
  const agentWith = async (view: Parameters<typeof viewOf>[0]) =>
    closeAfterTest(await startAgent({ communities: { public: viewOf(view) } }));

  test("in the request of the system group", async () => {
    const [served, without] = [await agentWith({ ...SYSTEM, [ENGINE]: ENGINE_ID }), await agentWith(SYSTEM)];
    expect(await poll(served, "SnmpV2c")).toMatchObject({ sys_name: "sw-1", engine_id: "800007db03001b21000001" });
    expect((await poll(without, "SnmpV2c"))?.engine_id).toBeUndefined();
    expect(served.requestCount).toBe(without.requestCount);
  });

  test("with v1 too, whether or not the agent has it", async () => {
    const [served, without] = [await agentWith({ ...SYSTEM, [ENGINE]: ENGINE_ID }), await agentWith(SYSTEM)];
    expect(await poll(served, "SnmpV1")).toMatchObject({ sys_name: "sw-1", engine_id: "800007db03001b21000001" });
    const device = await poll(without, "SnmpV1");
    expect(device?.sys_name).toBe("sw-1");
    expect(device?.engine_id).toBeUndefined();
  });

  test("from the discovery of SNMPv3 if the user may not see it", async () => {
    const target = closeAfterTest(await startV3Agent({ users: [ann], contexts: { "": viewOf(SYSTEM) } }));
    expect((await poll(target, "SnmpV3"))?.engine_id).toMatch(/^[0-9a-f]{10,64}$/);
  });
});

describe("machines without serial numbers", () => {
  /** At one address, with one card: they take turns. */
  const twin = (number: number, engine_id: string, at = "10.0.0.9") =>
    deviceAt(at, {
      sys_name: `twin-${number}`,
      engine_id,
      interfaces: [ethernet(1), ethernet(2)],
      addresses: [address(at)],
    });
  const names = async () => (await hosts()).map(({ sys_name }) => sys_name).sort();

  test("are split if engine id and name change back three times within ten reads", async () => {
    await scan.devices(twin(1, randomId(1)));
    const [{ id }] = (await hosts()) as [JsonRecord];
    for (const number of [2, 1, 2]) {
      await scan.devices(twin(number, randomId(number)));
      expect(await hosts()).toHaveLength(1);
    }
    for (const number of [1, 2]) await scan.devices(twin(number, randomId(number)));
    const second = (await hosts()).find(({ sys_name }) => sys_name === "twin-2") as JsonRecord;
    expect((await get(`hosts/${second.id}/identity`)).decision).toBe(
      "Known by its SNMP engine id and system name, after a split from another host.",
    );
    for (const number of [1, 1, 2]) {
      await scan.devices(twin(number, randomId(number)));
      expect(await names()).toEqual(["twin-1", "twin-2"]);
    }
    const found = new Map((await hosts()).map((host) => [host.sys_name, host]));
    expect(found.get("twin-1")).toMatchObject({ id, engine_id: randomId(1) });
    expect(found.get("twin-2")).toMatchObject({ split_from: id, engine_id: randomId(2) });
  });

  test("are split at addresses of their own too, where each is unchanged", async () => {
    for (let times = 0; times < 4; times += 1)
      for (const number of [1, 2]) await scan.devices(twin(number, randomId(number), `10.0.0.${number}`));
    expect(await names()).toEqual(["twin-1", "twin-2"]);
  });

  test("stay one host if only the engine id changes, at every start, or with a name that never returns", async () => {
    for (let start = 1; start <= 8; start += 1) await scan.devices(twin(1, randomId(start)));
    for (const number of [2, 3, 4, 5]) await scan.devices(twin(number, randomId(number)));
    expect(await hosts()).toHaveLength(1);
  });

  test("are two hosts from the start if their engine ids last", async () => {
    for (const number of [1, 2, 1, 2]) await scan.devices(twin(number, chosenId(number)));
    expect(await names()).toEqual(["twin-1", "twin-2"]);
    expect((await hosts()).map(({ split_from }) => split_from)).toEqual([undefined, undefined]);
  });
});

describe("an engine id", () => {
  const NAT_CARD = { mac_address: "08:00:27:5d:3c:01" };
  /** A clone of an image, with the NAT card of its hypervisor and one of its own. */
  const clone = (number: number, fields: Partial<Device> = {}) =>
    deviceAt(`10.0.0.${number}`, {
      sys_name: "image",
      engine_id: randomId(1),
      sys_location: `rack ${number}`,
      interfaces: [ethernet(1, NAT_CARD), ethernet(9, { mac_address: mac(1, number) })],
      addresses: [address("10.0.2.15"), address(`10.0.0.${number}`, 9)],
      ...fields,
    });
  const racks = async () => (await holders("sys_location")).map((line) => line.split(" 10.")[0]);

  test("of a cloned image makes no clones one host, by whatever name", async () => {
    for (let times = 0; times < 2; times += 1) for (const number of [2, 3, 4]) await scan.devices(clone(number));
    expect(await racks()).toEqual(["rack 2", "rack 3", "rack 4"]);
    for (const number of [2, 3, 4]) await scan.devices(clone(number, { sys_name: `vm-${number}` }));
    expect(await racks()).toEqual(["rack 2", "rack 3", "rack 4"]);
  });

  test("that follows from a card is that card: replaced, both count once against the host", async () => {
    const box = (card: number) =>
      numbered(2, {
        sys_name: "box",
        engine_id: `800007db03${mac(1, card).replaceAll(":", "")}`,
        sys_location: `rack ${card}`,
        interfaces: [ethernet(1, { mac_address: mac(1, card) }), ethernet(2, { mac_address: mac(2, 2) })],
      });
    await scan.devices(box(2));
    await scan.devices(box(3));
    expect(await racks()).toEqual(["rack 3"]);
  });

  test("recognizes a machine that was renamed and renumbered, which its card alone does not", async () => {
    const moved = numbered(3, { sys_name: "new", interfaces: [ethernet(1, { mac_address: mac(1, 2) })] });
    await scan.devices(numbered(2, { sys_name: "old", engine_id: randomId(1) }));
    await scan.devices({ ...moved, device: { ...moved.device, engine_id: randomId(1) } });
    const [host, ...others] = (await hosts()) as [JsonRecord];
    expect(others).toEqual([]);
    expect(await get(`hosts/${host.id}/identity`)).toMatchObject({
      devices: [
        {
          ip_address: "10.0.0.3",
          decision: expect.stringContaining("SNMP engine id"),
          signs: [
            { sign: "cards", common: 1 },
            { sign: "engine_id", weight: 5.3, common: 1, values: [randomId(1)] },
            { sign: "system_name", common: 0 },
            { sign: "addresses", common: 0 },
          ],
        },
        { ip_address: "10.0.0.2" },
      ],
    });
  });

  test("recognizes a host that a person deleted", async () => {
    const bare = (fields: Partial<Device>) => deviceAt("10.0.0.2", { engine_id: randomId(1), ...fields });
    await scan.devices(bare({ sys_name: "old" }));
    const [before] = (await hosts()) as [JsonRecord];
    appliance.tick();
    expect((await appliance.owner.delete(`hosts/${before.id}`)).status).toBe(200);
    await scan.devices(bare({ sys_name: "old" }));
    expect((await hosts())[0]).toMatchObject({ lineage_id: before.id });
  });
});
