// TCP ports that end, with their bindings and services, once their host refuses connections.

import { describe, expect, test } from "bun:test";
import { systemRandom } from "../../src/base/random.ts";
import { systemTimers } from "../../src/base/timers.ts";
import type { AddressSighting, OpenPort } from "../../src/discovery/sightings.ts";
import { sweep } from "../../src/discovery/sweep/sweep.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { machineWith } from "../support/reconcile/machine.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, tick } = appliance;
const { hosts, get } = inventoryOf(appliance);
const scan = new ScanWriter(appliance);

const SERVICES: Readonly<Record<number, readonly [name: string, definition: string]>> = {
  22: ["OpenSSH", "ssh"],
  80: ["nginx", "http"],
  443: ["nginx", "http"],
  8080: ["Tomcat", "http"],
};
const ASKED = [22, 80, 443, 8080];

function open(number: number): OpenPort {
  const [name = "", service_definition = ""] = SERVICES[number] ?? [];
  return { number, protocol: "Tcp", service: { name, service_definition } };
}

/** Result of a sweep of 10.0.0.N: the open ports; all others are refused, or some. */
function swept(number: number, ports: readonly number[], refused = ASKED.filter((each) => !ports.includes(each))) {
  return {
    ip_address: `10.0.0.${number}`,
    mac_address: mac(1, number),
    answered: ["Icmp"],
    ports: { asked: ASKED, open: ports.map(open), refused },
  } satisfies AddressSighting;
}

const host = async () => (await hosts())[0] as JsonRecord;
const numbersOf = ({ ports }: JsonRecord) =>
  ports.map(({ number }: JsonRecord) => number).sort((a: number, b: number) => a - b);
const numbers = async () => numbersOf(await host());
const servicesOf = async () =>
  (await host()).services.map(({ name, bindings }: JsonRecord) => `${name} ${bindings.length}`).sort();
const portOf = async (number: number) => (await host()).ports.find((each: JsonRecord) => each.number === number);

describe("a port that its host refuses", () => {
  test("ends in one version with its binding and its service, with the reason among the findings", async () => {
    await scan.addresses(swept(5, [22, 8080]));
    const { id } = await portOf(8080);
    const { result, sequence } = await scan.addresses(swept(5, [22]));
    expect([await numbers(), await servicesOf()]).toEqual([[22], ["OpenSSH 1"]]);
    expect(result.records).toMatchObject({
      ports: { deleted: 1 },
      bindings: { deleted: 1 },
      services: { deleted: 1 },
    });
    const reason = "10.0.0.5 refuses connections to port 8080";
    const { name } = await host();
    expect(result.findings).toContainEqual({
      type: "Closed",
      entity: "port",
      id,
      label: `8080/Tcp of ${name}`,
      reason,
    });
    expect(result.findings).toContainEqual(
      expect.objectContaining({ type: "Closed", entity: "service", label: `Tomcat of ${name}`, reason }),
    );
    const [last] = await get(`ports/${id}/history`);
    expect(last).toMatchObject({ operation: "Deleted", transaction: { sequence, actor: { type: "Discovery" } } });
    expect((await scan.addresses(swept(5, [22]))).sequence).toBeNull();
  });

  test("ends with the sweep after the program on a socket has stopped", async () => {
    const server = Bun.listen({ hostname: "127.77.9.1", port: 0, socket: { data() {} } });
    const sweepAgain = async () => {
      const sightings: AddressSighting[] = [];
      await sweep(
        { addresses: ["127.77.9.1"], count: 1 },
        { random: systemRandom, timers: systemTimers, isDnsOn: false, isIdentifyingOn: false, tcpPorts: [server.port] },
        { answer: (sighting) => void sightings.push(sighting) },
      );
      await scan.addresses(...sightings);
      return await numbers();
    };
    expect(await sweepAgain()).toEqual([server.port]);
    server.stop(true);
    expect(await sweepAgain()).toEqual([]);
  });

  test("leaves a service that another port still serves", async () => {
    await scan.addresses(swept(5, [80, 443]));
    expect(await servicesOf()).toEqual(["nginx 2"]);
    await scan.addresses(swept(5, [443]));
    expect([await numbers(), await servicesOf()]).toEqual([[443], ["nginx 1"]]);
  });

  test("exists until its end, and returns with a new id and its lineage", async () => {
    await scan.addresses(swept(5, [22]));
    const [{ id }, at] = [await portOf(22), appliance.clock.text()];
    const [service] = (await host()).services;
    await scan.addresses(swept(5, []));
    expect(numbersOf((await get(`hosts?at=${at}`))[0])).toEqual([22]);
    await scan.addresses(swept(5, [22]));
    expect((await host()).services[0].lineage_id).toBe(service.id);
    expect((await portOf(22)).lineage_id).toBe(id);
    expect((await portOf(22)).id).not.toBe(id);
  });

  test("ends on a device that responds to SNMP, whose SNMP port is kept", async () => {
    const device = deviceAt("10.0.0.5", {
      sys_name: "core-1",
      interfaces: [ethernet(1, { mac_address: mac(1, 5) })],
      addresses: [address("10.0.0.5")],
    });
    await scan.devices(device);
    await scan.addresses(swept(5, [22]));
    await scan.addresses(swept(5, [], [22, 161]));
    expect(await numbers()).toEqual([161]);
  });
});

describe("a port is kept", () => {
  test("if it is silent, since a filter may hide it", async () => {
    await scan.addresses(swept(5, [22, 80]));
    expect((await scan.addresses(swept(5, [22], []))).sequence).toBeNull();
    expect(await numbers()).toEqual([22, 80]);
  });

  test("stays while it is open on another address of its host, and ends once that address refuses it", async () => {
    // A machine with two cards, whose SSH server listens on the first.
    const machine = (at: string) =>
      deviceAt(at, {
        sys_name: "nas-1",
        interfaces: [5, 6].map((number) => ethernet(number, { mac_address: mac(1, number) })),
        addresses: [address("10.0.0.5", 5), address("10.0.0.6", 6)],
      });
    await scan.devices(machine("10.0.0.5"));
    const both = (ports: readonly number[]) => [swept(6, []), swept(5, ports)];
    await scan.addresses(...both([22]));
    const { id } = await portOf(22);
    expect(addressesOf(await host())).toEqual(["10.0.0.5", "10.0.0.6"]);
    for (const sightings of [both([22]), [swept(6, [])], both([22]).reverse()]) {
      expect((await scan.addresses(...sightings)).sequence).toBeNull();
      expect((await portOf(22)).id).toBe(id);
    }
    await scan.addresses(swept(5, []));
    expect(await numbers()).toEqual([161]);
  });

  test("until each address refuses it, if it was open before the host had several", async () => {
    await scan.addresses(swept(5, [22]));
    await scan.addresses({ ...swept(6, [], []), mac_address: mac(1, 5) });
    expect(addressesOf(await host())).toEqual(["10.0.0.5", "10.0.0.6"]);
    await scan.addresses({ ...swept(6, []), mac_address: mac(1, 5) });
    expect(await numbers()).toEqual([22]);
    await scan.addresses(swept(5, []));
    expect(await numbers()).toEqual([]);
  });

  test("on the appliance's own host, which reads its ports from the kernel", async () => {
    const machine = machineWith({
      addresses: [{ ip_address: "10.0.0.5", prefix_length: 24, if_index: 2, cidr: "10.0.0.0/24" }],
      ports: [{ number: 22, protocol: "Tcp", bound: ["10.0.0.5"] }],
    });
    await appliance.renew({ machine });
    const { networkId } = appliance.first;
    expect((await owner.post("discovery/self", { network_id: networkId })).status).toBe(200);
    expect(await numbers()).toEqual([22]);
    await scan.addresses({ ...swept(5, []), mac_address: null });
    expect(await numbers()).toEqual([22]);
  });
});

describe("a refused port with manual changes becomes stale, until it responds again:", () => {
  const expectStale = async (number: number, service: boolean) => {
    await scan.addresses(swept(5, []));
    expect(await portOf(number)).toMatchObject({ stale_since: expect.any(String) });
    if (service) expect((await host()).services[0]).toMatchObject({ stale_since: expect.any(String) });
    expect((await scan.addresses(swept(5, []))).sequence).toBeNull();
    await scan.addresses(swept(5, [number]));
    expect(await portOf(number)).not.toHaveProperty("stale_since");
    for (const each of (await host()).services) expect(each).not.toHaveProperty("stale_since");
  };

  test("a port that a user entered", async () => {
    await scan.addresses(swept(5, []));
    const { id } = await host();
    expect((await owner.post("ports", { host_id: id, number: 8080, protocol: "Tcp" })).status).toBe(200);
    tick();
    await expectStale(8080, false);
  });

  test("a service that a user renamed, with its port", async () => {
    await scan.addresses(swept(5, [80]));
    const [service] = (await host()).services;
    expect((await owner.put(`services/${service.id}`, { ...service, name: "Intranet" })).status).toBe(200);
    tick();
    await expectStale(80, true);
    expect(await servicesOf()).toEqual(["Intranet 1"]);
  });

  test("a port to which a user bound a service", async () => {
    await scan.addresses({
      ...swept(5, []),
      ports: { asked: [22], open: [{ number: 22, protocol: "Tcp", service: null }] },
    });
    const { id } = await host();
    const bindings = [{ type: "Port", port_id: (await portOf(22)).id, ip_address_id: null }];
    const body = { host_id: id, name: "Jump host", service_definition: "ssh", bindings };
    expect((await owner.post("services", body)).status).toBe(200);
    tick();
    await expectStale(22, true);
  });
});
