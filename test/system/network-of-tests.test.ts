// Test run network: loopback only, so that no packet from a test leaves the machine.

import { describe, expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { socketAddress } from "../../src/discovery/kernel/socket-address.ts";
import {
  AF_INET,
  AF_INET6,
  ENETUNREACH,
  openSockets,
  SOCK_DGRAM,
  SOCK_RAW,
  SOCK_STREAM,
} from "../../src/discovery/kernel/sockets.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord, newApiKey } from "../support/appliance/factories.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

/** Documentation addresses (RFC 5737, RFC 3849): an escaping packet would reach no machine. */
const OUTSIDE_ADDRESSES = ["192.0.2.1", "2001:db8::1"].map((text) => parseIp(text) as Ip);
const DISCARD_PORT = 9;

// Without a namespace these tests must not run.
describe.skipIf(process.env.TEST_NETWORK !== "own")("the network of a test run (skipped where unavailable)", () => {
  test("has loopback, no other interface, and no outside route", () => {
    expect(Object.keys(networkInterfaces())).toEqual(["lo"]);
    expect(readFileSync("/proc/net/route", "utf8").trim().split("\n")).toHaveLength(1);
    const routes = readFileSync("/proc/net/ipv6_route", "utf8").trim().split("\n");
    expect(new Set(routes.map((line) => line.trim().split(/\s+/).at(-1)))).toEqual(new Set(["lo"]));
  });

  test.each(OUTSIDE_ADDRESSES)("refuses the first packet to $text immediately: by UDP, TCP and ICMP", (address) => {
    const sockets = openSockets();
    if (sockets === null) throw new Error("this process cannot call the C library");
    const family = address.version === 4 ? AF_INET : AF_INET6;
    const to = socketAddress(address, DISCARD_PORT);
    const errorOf = (type: number, protocol: number, send: (descriptor: number) => number) => {
      const descriptor = sockets.open(family, type, protocol);
      // Negative: the process may not even open a socket.
      if (descriptor < 0) return ENETUNREACH;
      const error = send(descriptor);
      sockets.closeSocket(descriptor);
      return error;
    };
    const echo = new Uint8Array([address.version === 4 ? 8 : 128, 0, 0, 0, 0, 1, 0, 1]);
    expect([
      errorOf(SOCK_DGRAM, 0, (descriptor) => sockets.sendTo(descriptor, echo, to)),
      errorOf(SOCK_STREAM, 0, (descriptor) => sockets.connect(descriptor, to)),
      errorOf(SOCK_RAW, address.version === 4 ? 1 : 58, (descriptor) =>
        sockets.sendTo(descriptor, echo, socketAddress(address, 0)),
      ),
    ]).toEqual([ENETUNREACH, ENETUNREACH, ENETUNREACH]);
    sockets.close();
  });

  describe("with an appliance", () => {
    const sandbox = sandboxForAll();

    test("confines a scan without targets, although its subnets are outside", async () => {
      const { client, networkId, organizationId } = await sandbox.serveSetUp();
      const discovery = new DiscoveryClient(client, organizationId);
      for (const cidr of ["192.0.2.0/30", "127.0.0.0/30"]) {
        const subnet = { network_id: networkId, cidr, name: cidr, subnet_type: "Lan", tags: [] };
        await expectOk(client.post("subnets", subnet));
      }
      const scan = await discovery.runScan({ network_id: networkId, kind: "full" });
      // The scan tried: the kernel had no route. Addresses that only this machine reaches are not default targets.
      expect(scan).toMatchObject({ targets: null, progress: { addresses_done: 2, errors: { no_route: 2 } } });
      expect(Object.keys(networkInterfaces())).toEqual(["lo"]);
    });

    test("confines a missed scheduled scan that starts with the appliance", async () => {
      // Days ago by the test clock: hourly due times have passed since.
      const earlierAppliance = await newAppliance();
      const { key } = newApiKey(earlierAppliance);
      const { networkId } = earlierAppliance.first;
      for (const cidr of ["192.0.2.0/30", "198.51.100.0/30"])
        await expectOk(
          earlierAppliance.owner.post("subnets", { network_id: networkId, cidr, subnet_type: "Lan", tags: [] }),
        );
      const hourly = { name: "hourly", kind: "full", cron: "0 * * * *", timezone: "UTC", is_enabled: true };
      await expectOk(earlierAppliance.owner.post("discovery/schedules", { network_id: networkId, ...hourly }));
      const data = sandbox.path("overdue");
      cpSync(earlierAppliance.dataDirectory, data, { recursive: true });
      await earlierAppliance.close();
      const running = await sandbox.serve([], { data });
      await running.waitForLog("scan_ended");
      const [scan] = (await expectOk(running.withKey(key).get("discovery/scans"))) as unknown as JsonRecord[];
      const progress = { addresses_done: 4, errors: { no_route: 4 } };
      expect(scan).toMatchObject({ status: "Completed", targets: null, progress });
      expect(Object.keys(networkInterfaces())).toEqual(["lo"]);
    });
  });
});
