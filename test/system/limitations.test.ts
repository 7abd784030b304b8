// Executable under a hardened service: without executable memory, which bun:ffi needs, and without netlink. It reports
// the limitation at startup and in health, and still records its machine and finds hosts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readMachine } from "../../src/discovery/self/read-machine.ts";
import { Client } from "../support/appliance/client.ts";
import { DENIALS, type Denial, DenialWrapper } from "../support/executable/denial.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import {
  EXECUTABLE,
  ensureExecutable,
  OWNER,
  PASSWORD,
  type Running,
  Sandbox,
} from "../support/executable/executable.ts";

const wrapper = new DenialWrapper();
afterAll(() => wrapper.close());

/** Addresses of this machine, used by no other test. */
const HOST = "127.77.60.1";
const BLOCK = "127.77.60.0/29";

const LIMITATIONS: Readonly<Record<Denial, string>> = { mdwe: "native_calls_refused", netlink: "netlink_refused" };
const EXPECTED_METHODS: Readonly<Record<Denial, RegExp>> = {
  mdwe: /TCP.*a refused port does not count as an answer/,
  netlink: /^((?!refused).)*TCP$/,
};

for (const denial of DENIALS) {
  describe.skipIf(wrapper.missing !== null)(
    `without ${denial}${wrapper.missing === null ? "" : ` (skipped: ${wrapper.missing})`}`,
    () => {
      let sandbox: Sandbox;
      let running: Running;
      let discovery: DiscoveryClient;
      let networkId: string;
      let server: { readonly port: number; stop(closeAll: boolean): void };

      beforeAll(async () => {
        ensureExecutable();
        sandbox = new Sandbox();
        server = Bun.listen({
          hostname: HOST,
          port: 0,
          socket: { open: (socket) => void socket.write("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), data: () => {} },
        });
        const command = wrapper.command(denial, [EXECUTABLE]);
        const setup = `--setup-organization Acme --setup-network Main --setup-email ${OWNER} --setup-password-file`;
        const flags = `--tls-self-signed --self --scan-tcp-ports 9,${server.port} ${setup}`;
        running = await sandbox.serve([...flags.split(" "), await sandbox.passwordFile()], { command });
        const ca = await Bun.file(`${sandbox.data}/netledger-tls.crt`).text();
        const anonymous = new Client((request) => fetch(request, { tls: { ca } } as RequestInit), {}, running.url);
        const signedIn = await anonymous.post("/api/auth/login", { email: OWNER, password: PASSWORD });
        expect(signedIn.status).toBe(200);
        const client = anonymous.with({ cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "" });
        const [network] = (await client.get("networks")).data;
        networkId = network.id;
        discovery = new DiscoveryClient(client, network.organization_id);
      });
      afterAll(async () => {
        server.stop(true);
        await sandbox.close();
      });

      test("startup and health report the limitation and its consequences", async () => {
        expect(running.log).toContain(LIMITATIONS[denial]);
        const limitations = [{ code: LIMITATIONS[denial], message: expect.stringContaining("/proc") }];
        const health = (await discovery.client.get("/api/health")).data;
        expect(health).toEqual({ status: "ok", read_only: false, limitations });
      });

      test("the machine is recorded with its addresses", async () => {
        expect(running.log).not.toContain("self_not_recorded");
        const expected = (await readMachine()).addresses.map(({ ip_address }) => ip_address).sort();
        expect((await discovery.list("/api/v1/ip-addresses")).map(({ ip_address }) => ip_address).sort()).toEqual(
          expected,
        );
      });

      test("addresses and interfaces are unchanged when recorded again", async () => {
        const { data } = await discovery.client.post("discovery/self", { network_id: networkId });
        for (const counts of [data.created, data.updated, data.deleted]) {
          expect(Object.keys(counts)).not.toContain("ip_addresses");
          expect(Object.keys(counts)).not.toContain("if_entries");
        }
      });

      test("a scan finds hosts and open ports, and reports its methods", async () => {
        const scan = await discovery.runScan({ network_id: networkId, kind: "sweep", targets: [BLOCK] });
        expect(scan).toMatchObject({
          status: "Completed",
          outcome: { problem: null, icmp: expect.stringMatching(EXPECTED_METHODS[denial]), hosts: { found: 6 } },
        });
        const [host] = await discovery.list(`/api/v1/hosts?search=${HOST}`);
        expect(host?.ports.map((port: { number: number }) => port.number)).toEqual([server.port]);
        const services = await discovery.list("/api/v1/services?service_definition=ssh");
        expect(services.map(({ name }) => name)).toContain("OpenSSH 9.2p1");
      });
    },
  );
}
