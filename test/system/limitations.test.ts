// Executable under a hardened service: without executable memory, which bun:ffi needs, and without netlink. It reports
// that at its start and to monitors, and still records its machine and finds hosts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readMachine } from "../../src/discovery/self/read-machine.ts";
import { Client } from "../support/appliance/client.ts";
import { DENIALS, type Denial, DenialWrapper } from "../support/executable/denial.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { EXECUTABLE, ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";

const wrapper = new DenialWrapper();
afterAll(() => wrapper.close());

/** Addresses of this machine, used by no other test. */
const HOST = "127.77.60.1";
const BLOCK = "127.77.60.0/29";

const LIMITATIONS: Readonly<Record<Denial, string>> = { mdwe: "native_calls_refused", netlink: "netlink_refused" };
const MEANS: Readonly<Record<Denial, RegExp>> = {
  mdwe: /TCP.*a refused port does not count as an answer/,
  netlink: /^((?!refused).)*TCP$/,
};

for (const denial of DENIALS) {
  describe.skipIf(wrapper.missing !== null)(
    `without ${denial}${wrapper.missing === null ? "" : ` (skipped: ${wrapper.missing})`}`,
    () => {
      let place: Workplace;
      let running: Running;
      let discovery: DiscoveryClient;
      let networkId: string;
      let server: { readonly port: number; stop(closeAll: boolean): void };

      beforeAll(async () => {
        ensureExecutable();
        place = new Workplace();
        server = Bun.listen({
          hostname: HOST,
          port: 0,
          socket: { open: (socket) => void socket.write("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), data: () => {} },
        });
        const command = wrapper.command(denial, [EXECUTABLE]);
        const setup = [
          "--setup-organization",
          "Acme",
          "--setup-network",
          "Main",
          "--setup-email",
          "owner@acme.example",
          "--setup-password-file",
          await place.passwordFile(),
        ];
        running = await place.serve(["--tls-self-signed", "--self", "--scan-tcp-ports", `9,${server.port}`, ...setup], {
          command,
        });
        const ca = await Bun.file(`${place.data}/netledger-tls.crt`).text();
        const anyone = new Client((request) => fetch(request, { tls: { ca } } as RequestInit), {}, running.url);
        const signedIn = await anyone.post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD });
        expect(signedIn.status).toBe(200);
        const client = anyone.with({ cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "" });
        const [network] = (await client.get("networks")).data;
        networkId = network.id;
        discovery = new DiscoveryClient(client, network.organization_id);
      });
      afterAll(async () => {
        server.stop(true);
        await place.close();
      });

      test("startup and health report the limitation and its consequences", async () => {
        expect(running.log).toContain(LIMITATIONS[denial]);
        const health = (await discovery.client.get("/api/health")).data;
        expect(health).toEqual({
          status: "ok",
          read_only: false,
          limitations: [{ code: LIMITATIONS[denial], message: expect.stringContaining("/proc") }],
        });
      });

      test("the machine is recorded with its addresses", async () => {
        expect(running.log).not.toContain("self_not_recorded");
        const own = (await readMachine()).addresses.map((each) => each.ip_address).sort();
        expect((await discovery.all("/api/v1/ip-addresses")).map((each) => each.ip_address).sort()).toEqual(own);
      });

      test("addresses and interfaces are unchanged when recorded again", async () => {
        const { data } = await discovery.client.post("discovery/self", { network_id: networkId });
        for (const counts of [data.created, data.updated, data.deleted]) {
          expect(Object.keys(counts)).not.toContain("ip_addresses");
          expect(Object.keys(counts)).not.toContain("if_entries");
        }
      });

      test("a scan finds hosts and open ports, and reports its methods", async () => {
        const scan = await discovery.scanned({ network_id: networkId, kind: "sweep", targets: [BLOCK] });
        expect(scan).toMatchObject({
          status: "Completed",
          outcome: { problem: null, icmp: expect.stringMatching(MEANS[denial]), hosts: { found: 6 } },
        });
        const [host] = await discovery.all(`/api/v1/hosts?search=${HOST}`);
        expect(host?.ports.map((port: { number: number }) => port.number)).toEqual([server.port]);
        const services = await discovery.all("/api/v1/services?service_definition=ssh");
        expect(services.map(({ name }) => name)).toContain("OpenSSH 9.2p1");
      });
    },
  );
}
