// Sweep over loopback, on real sockets: responses and evidence, names, external tools, and no leaked descriptors in any
// outcome.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { type Random, systemRandom } from "../../src/base/random.ts";
import { systemTimers, type Timers } from "../../src/base/timers.ts";
import { FINGERPRINTS } from "../../src/discovery/fingerprints/catalog.ts";
import type { Fingerprint } from "../../src/discovery/fingerprints/fingerprint.ts";
import type { AddressSighting } from "../../src/discovery/sightings.ts";
import { hasEchoTool } from "../../src/discovery/sweep/echo-tools.ts";
import { MAX_RESPONSE_BYTES, ServiceIdentifier } from "../../src/discovery/sweep/identify-service.ts";
import { SYSTEM_KERNEL } from "../../src/discovery/sweep/probe-methods.ts";
import { ReverseDns } from "../../src/discovery/sweep/reverse-dns.ts";
import { type SweepCounts, type SweepOptions, type SweepStats, sweep } from "../../src/discovery/sweep/sweep.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import { patientTimers } from "../support/injected/patient-timers.ts";
import { stableDescriptorCount, waitForDescriptorCount } from "../support/sweep/descriptors.ts";
import { targetsIn } from "../support/sweep/targets.ts";
import { DEVICE_CERTIFICATE, DEVICE_KEY } from "../support/tls/device-certificate.ts";

/** Addresses of this machine, used by no other test. */
const HOST = "127.77.1.1";

const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((info) => info?.address === "::1");
const WITH_IPV6 = HAS_IPV6 ? "" : "skipped where loopback has no IPv6: ";

interface SweepResult {
  readonly sightings: AddressSighting[];
  readonly progress: SweepCounts[];
  readonly stats: SweepStats;
}

async function sweepOf(cidr: string, options: Partial<SweepOptions> = {}): Promise<SweepResult> {
  const sightings: AddressSighting[] = [];
  const progress: SweepCounts[] = [];
  const stats = await sweep(
    targetsIn([cidr]),
    { random: systemRandom, timers: systemTimers, isDnsOn: false, tcpPorts: [9], ...options },
    { answer: (sighting) => void sightings.push(sighting), progress: (counts) => void progress.push(counts) },
  );
  return { sightings, progress, stats };
}

function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (!parsed) throw new Error(`${text} is not an address`);
  return parsed;
}

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Starts a TCP server that stops at the end of the test. */
function startServer(socket: Bun.SocketHandler, hostname = HOST): Bun.TCPSocketListener {
  const server = Bun.listen({ hostname, port: 0, socket });
  closing.push(() => server.stop(true));
  return server;
}

/** Starts a server that sends its greeting to every connection. */
function startGreeter(greeting: string, hostname = HOST): Bun.TCPSocketListener {
  return startServer({ open: (socket) => void socket.write(greeting), data: () => {} }, hostname);
}

describe("a sweep of responding addresses", () => {
  test("reports open ports with their services, and the refused ones", async () => {
    const ssh = startGreeter("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
    const mail = startGreeter("220 mx.example.org ESMTP Postfix\r\n");
    const ports = [ssh.port, mail.port];
    const { sightings, stats } = await sweepOf(`${HOST}/32`, { tcpPorts: [...ports, 9] });
    const open = [
      { number: ssh.port, protocol: "Tcp" as const, service: { name: "OpenSSH 9.2p1", service_definition: "ssh" } },
      { number: mail.port, protocol: "Tcp" as const, service: { name: "Postfix", service_definition: "smtp" } },
    ].sort((a, b) => a.number - b.number);
    expect(sightings).toEqual([
      {
        ip_address: HOST,
        mac_address: null,
        answered: expect.arrayContaining(["Tcp"]),
        ports: { asked: [9, ...ports].sort((a, b) => a - b), open, refused: [9] },
      },
    ]);
    expect(stats).toMatchObject({ done: 1, found: 1, errors: {} });
  });

  test("names ports by number only without service probes, and probes no ports if none are given", async () => {
    const [known] = (await sweepOf(`${HOST}/32`, { isIdentifyingOn: false })).sightings;
    expect(known?.ports).toEqual({ asked: [9], open: [], refused: [9] });
    const { sightings } = await sweepOf(`${HOST}/32`, { tcpPorts: [] });
    expect(sightings.every(({ ports }) => ports === undefined)).toBe(true);
  });

  test("accepts a TCP refusal as a response", async () => {
    const { sightings, stats } = await sweepOf("127.77.2.0/28", { echoMethods: [] });
    expect(sightings).toHaveLength(14);
    expect(sightings.every(({ answered }) => answered.join() === "Tcp")).toBe(true);
    expect(stats).toMatchObject({ done: 14, found: 14, methods: "TCP" });
  });

  test.skipIf(!HAS_IPV6)(`${WITH_IPV6}accepts a TCP refusal as a response over IPv6`, async () => {
    const result = await sweepOf("::1/128", { echoMethods: [] });
    expect(result.sightings.map(({ ip_address, answered }) => [ip_address, answered.join()])).toEqual([["::1", "Tcp"]]);
  });

  test("distrusts an address with every port open: a middlebox accepts them all", async () => {
    const servers = Array.from({ length: 12 }, () => startGreeter("", "127.77.7.1"));
    const tcpPorts = servers.map(({ port }) => port);
    const { sightings, stats } = await sweepOf("127.77.7.1/32", { tcpPorts, echoMethods: [] });
    expect(sightings).toEqual([]);
    expect(stats.errors).toEqual({ Intercepted: 1 });
    const withOneClosed = await sweepOf("127.77.7.1/32", {
      tcpPorts: [...tcpPorts, 9],
      echoMethods: [],
      isIdentifyingOn: false,
    });
    expect(withOneClosed.sightings[0]?.ports?.open).toHaveLength(12);
  });

  test("reports progress up to completion", async () => {
    const { progress, stats } = await sweepOf("127.77.3.0/24", { ratePerSecond: 1_000 });
    expect(progress.length).toBeGreaterThanOrEqual(2);
    expect(progress.map(({ done }) => done)).toEqual(progress.map(({ done }) => done).sort((a, b) => a - b));
    expect(progress.at(-1)).toMatchObject({ done: 254, found: 254, requests: stats.requests });
    // One per millisecond, plus the initial burst.
    expect(stats.elapsedMs).toBeGreaterThan(stats.requests - 50);
  });

  test("waits for its consumer, and sends nothing new in the meantime", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let answerCount = 0;
    const running = sweep(
      { addresses: ["127.77.3.1", "127.77.3.2"], count: 2 },
      { random: systemRandom, timers: systemTimers, isDnsOn: false, tcpPorts: [9] },
      {
        answer: () => {
          answerCount += 1;
          if (answerCount === 2) resolve();
          return promise;
        },
      },
    );
    expect(await running).toMatchObject({ done: 2, found: 2 });
  });
});

describe("a sweep without the C library", () => {
  const kernel = { ...SYSTEM_KERNEL, sockets: () => null };

  test("finds open ports by runtime sockets, and the machine's own addresses by its own refusals", async () => {
    const ssh = startGreeter("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
    const { sightings, stats } = await sweepOf(`${HOST}/32`, { tcpPorts: [ssh.port, 9], echoMethods: [], kernel });
    const service = { name: "OpenSSH 9.2p1", service_definition: "ssh" };
    const ports = { asked: [9, ssh.port], open: [{ number: ssh.port, protocol: "Tcp" as const, service }] };
    expect(sightings).toEqual([{ ip_address: HOST, mac_address: null, answered: ["Tcp"], ports }]);
    expect(stats.methods).toContain("a refused port does not count as an answer");
    const ownAddresses = await sweepOf("127.77.8.0/29", { tcpPorts: [9], echoMethods: [], kernel });
    expect(ownAddresses.sightings.map(({ answered }) => answered.join())).toEqual(Array(6).fill("Tcp"));
  });

  test("still uses ping", async () => {
    const folder = mkdtempSync(join(tmpdir(), "netledger-tools-"));
    try {
      const path = join(folder, "ping");
      writeFileSync(path, "#!/bin/sh\nexit 0\n");
      chmodSync(path, 0o755);
      const findTool = (name: string) => (name === "ping" ? path : null);
      const { sightings, stats } = await sweepOf("127.77.9.1/32", { tcpPorts: [], kernel, findTool });
      expect(sightings.map(({ answered }) => answered.join())).toEqual(["Icmp"]);
      expect(stats.methods).toBe("ICMP by ping");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("leaks no descriptor when canceled", async () => {
    const before = await stableDescriptorCount();
    const controller = new AbortController();
    const running = sweepOf("127.78.0.0/20", { signal: controller.signal, echoMethods: [], kernel, tcpPorts: [9] });
    queueMicrotask(() => controller.abort(new Error("called off")));
    expect(running).rejects.toThrow("called off");
    await running.catch(() => {});
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });
});

describe("a sweep that ends early", () => {
  test("stops when canceled, with the reason, and leaks no descriptor", async () => {
    const before = await stableDescriptorCount();
    const controller = new AbortController();
    let answerCount = 0;
    const running = sweep(
      targetsIn(["127.78.0.0/16"]),
      { random: systemRandom, timers: systemTimers, isDnsOn: false, signal: controller.signal },
      {
        answer: () => {
          answerCount += 1;
          if (answerCount === 20) controller.abort(new Error("enough"));
        },
      },
    );
    expect(await running.catch(String)).toBe("Error: enough");
    expect(answerCount).toBeLessThan(2_100);
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });

  test("does not start if already canceled", async () => {
    expect(await sweepOf(`${HOST}/32`, { signal: AbortSignal.abort(new Error("never")) }).catch(String)).toBe(
      "Error: never",
    );
  });

  test("fails if its consumer fails, and leaks no descriptor", async () => {
    const before = await stableDescriptorCount();
    const running = sweep(
      targetsIn(["127.77.4.0/24"]),
      { random: systemRandom, timers: systemTimers, isDnsOn: false, tcpPorts: [9] },
      { answer: () => Promise.reject(new Error("full")) },
    );
    expect(await running.catch(String)).toBe("Error: full");
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });

  test("leaks no descriptor on completion, including those for services and names", async () => {
    const ssh = startGreeter("SSH-2.0-x_1\r\n");
    const name = await nameServer(() => "host.example");
    await sweepOf(`${HOST}/32`, { tcpPorts: [ssh.port, 9], isDnsOn: true, dnsServers: [name.address] });
    const before = await stableDescriptorCount();
    for (let round = 0; round < 3; round += 1)
      await sweepOf("127.77.1.0/28", { tcpPorts: [ssh.port, 9], isDnsOn: true, dnsServers: [name.address] });
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });
});

describe("the service at a port", () => {
  const http = fingerprint("http");
  const https = fingerprint("https");

  function fingerprint(name: string): Fingerprint {
    const found = FINGERPRINTS.find((known) => known.name === name);
    if (!found) throw new Error(`no fingerprint ${name}`);
    return found;
  }

  function identifier(fingerprints: readonly Fingerprint[], timers = patientTimers): ServiceIdentifier {
    return new ServiceIdentifier({ timers, permit: (conversation) => conversation() }, fingerprints);
  }

  test("is read through TLS with any certificate", async () => {
    const server = Bun.serve({
      hostname: HOST,
      port: 0,
      tls: { cert: DEVICE_CERTIFICATE, key: DEVICE_KEY },
      fetch: () =>
        new Response("<title>Gerät 7</title>", {
          headers: { server: "device/2.1", "content-type": "text/html; charset=utf-8" },
        }),
    });
    closing.push(() => server.stop(true));
    const ports = [server.port ?? 0];
    const service = await identifier([
      { ...http, ports },
      { ...https, ports },
    ]).identify(ip(HOST), ports[0] ?? 0);
    expect(service).toEqual({ name: "device 2.1: Gerät 7", service_definition: "https" });
  });

  test.skipIf(!HAS_IPV6)(`${WITH_IPV6}is requested with its address as the host, in brackets`, async () => {
    const hosts: (string | null)[] = [];
    const server = Bun.serve({
      hostname: "::1",
      port: 0,
      fetch: (request) => {
        hosts.push(request.headers.get("host"));
        return new Response("<title>Six</title>");
      },
    });
    closing.push(() => server.stop(true));
    const port = server.port ?? 0;
    expect(await identifier([{ ...http, ports: [port] }]).identify(ip("::1"), port)).toEqual({
      name: "Six",
      service_definition: "http",
    });
    expect(hosts).toEqual(["[::1]"]);
  });

  test("is read from its greeting alone, without a request, on a port without a fingerprint", async () => {
    let received = 0;
    const ftp = startServer({
      open: (socket) => void socket.write("220 (vsFTPd 3.0.3)\r\n"),
      data: () => void (received += 1),
    });
    expect(await identifier(FINGERPRINTS).identify(ip(HOST), ftp.port)).toEqual({
      name: "vsftpd 3.0.3",
      service_definition: "ftp",
    });
    expect(received).toBe(0);
  });

  test("is unknown if it sends nothing in time, floods, or disconnects", async () => {
    const timers = new ManualTimers();
    const silentServer = startServer({ open: () => timers.advance(60_000), data: () => {} });
    const flood = startGreeter("x".repeat(MAX_RESPONSE_BYTES * 3));
    const closingServer = startServer({ open: (socket) => void socket.end(), data: () => {} });
    expect(await identifier(FINGERPRINTS, timers).identify(ip(HOST), silentServer.port)).toBeNull();
    expect(await identifier(FINGERPRINTS).identify(ip(HOST), flood.port)).toBeNull();
    expect(await identifier(FINGERPRINTS).identify(ip(HOST), closingServer.port)).toBeNull();
  });

  test("is not waited for after cancellation", async () => {
    const silentServer = startServer({ open: () => services.end("over"), data: () => {} });
    const services = identifier(FINGERPRINTS);
    expect(await services.identify(ip(HOST), silentServer.port).catch(String)).toBe("over");
    expect(await services.identify(ip(HOST), silentServer.port).catch(String)).toBe("over");
  });
});

describe("reverse DNS names", () => {
  /** Resolver that is closed after the test. */
  const resolverAt = ({ address }: NameServer, timers: Timers = patientTimers, random: Random = systemRandom) => {
    const dns = new ReverseDns({ timers, random, servers: [address] });
    closing.push(() => dns.end("over"));
    return dns;
  };

  test("are a name, none, or unknown", async () => {
    const server = await nameServer(
      (question) =>
        ({ "1": "Host.Example", "2": null, "3": "bad name", "4": "failure" })[question.split(".")[0] ?? ""] ?? null,
    );
    const dns = resolverAt(server);
    const names = await Promise.all(
      ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"].map((address) => dns.nameOf(ip(address))),
    );
    expect(names).toEqual(["host.example", null, null, undefined]);
  });

  test("are resolved a hundred at a time, completely", async () => {
    const server = await nameServer(() => "host.example");
    const dns = resolverAt(server);
    const names = await Promise.all(
      Array.from({ length: 600 }, (_, index) => dns.nameOf(ip(`127.1.${index >> 8}.${index & 0xff}`))),
    );
    expect(names.every((name) => name === "host.example")).toBe(true);
  });

  const silentDns = async () => {
    const server = await nameServer(() => "silence");
    const timers = new ManualTimers();
    const random = { bytes: (count: number) => new Uint8Array(count) };
    return { server, timers, dns: resolverAt(server, timers, random) };
  };

  test("are given up without a response, and dropped on cancellation", async () => {
    const { server, timers, dns } = await silentDns();
    const pendingName = dns.nameOf(ip("127.0.0.1"));
    while (server.questions.length === 0) {
      timers.advance(0);
      await server.received();
    }
    timers.advance(2_000);
    expect(await pendingName).toBeUndefined();
    const dropped = dns.nameOf(ip("127.0.0.2")).catch(String);
    dns.end("over");
    expect(await dropped).toBe("over");
    expect(timers.pendingCount).toBe(0);
  });

  test("are no longer requested after a hundred timeouts", async () => {
    const { server, timers, dns } = await silentDns();
    const names = Promise.all(
      Array.from({ length: 300 }, (_, index) => dns.nameOf(ip(`127.2.${index >> 8}.${index & 0xff}`))),
    );
    while (server.questions.length < 100) {
      timers.advance(0);
      await server.received();
    }
    timers.advance(2_000);
    expect(await names).toEqual(Array.from({ length: 300 }, () => undefined));
    expect(server.questions).toHaveLength(100);
  });

  test("are included in a sweep", async () => {
    const server = await nameServer((question) => (question.startsWith("1.") ? "one.example" : null));
    const { sightings } = await sweepOf("127.77.5.0/30", { isDnsOn: true, dnsServers: [server.address] });
    expect(sightings.map(({ ip_address, hostname }) => [ip_address, hostname]).sort()).toEqual([
      ["127.77.5.1", "one.example"],
      ["127.77.5.2", null],
    ]);
  });
});

describe("the ICMP program", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "netledger-tools-"));
    // Output of the programs for the given options, without packets.
    writeTool("fping", '[ "$1" = -a ] || exit 3\ngrep -E "^(127\\.0\\.0\\.1|127\\.77\\.6\\.[1-5])$"\nexit 1');
    writeTool(
      "ping",
      'for address; do :; done\ncase "$address" in 127.0.0.1|127.77.6.[1-3]) exit 0;; 127.77.6.4) exit 2;; *) exit 1;; esac',
    );
    writeTool("broken", "exit 4");
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function writeTool(name: string, body: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  const withTools = (...names: string[]): Partial<SweepOptions> => ({
    echoMethods: ["Fping", "Ping"],
    tcpPorts: [],
    findTool: (name) =>
      names.includes(name) ? join(folder, name) : names.includes(`broken ${name}`) ? join(folder, "broken") : null,
  });

  test("is preferably fping, which probes many addresses at once", async () => {
    const before = await stableDescriptorCount();
    const { sightings, stats } = await sweepOf("127.77.6.0/28", withTools("fping", "ping"));
    expect(sightings.map(({ ip_address }) => ip_address).sort()).toEqual(
      [1, 2, 3, 4, 5].map((last) => `127.77.6.${last}`),
    );
    expect(stats.methods).toStartWith("ICMP by fping");
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });

  test("is ping if fping is missing or broken", async () => {
    for (const names of [["ping"], ["broken fping", "ping"]]) {
      const { sightings, stats } = await sweepOf("127.77.6.0/29", withTools(...names));
      expect(sightings.map(({ ip_address }) => ip_address).sort()).toEqual([1, 2, 3].map((last) => `127.77.6.${last}`));
      expect(stats).toMatchObject({ errors: { Tool: 1 }, methods: expect.stringContaining("ICMP by ping") });
    }
  });

  test("is none if nothing works; this is reported, and TCP continues", async () => {
    const { sightings, stats } = await sweepOf("127.77.6.0/29", {
      ...withTools("broken fping", "broken ping"),
      tcpPorts: [9],
    });
    expect(sightings).toHaveLength(6);
    expect(stats.methods).toContain("TCP (no ICMP: ");
  });

  test("is tested before any probe", async () => {
    const hasWorkingTool = async (...names: string[]): Promise<boolean> => {
      const { findTool = () => null } = withTools(...names);
      return await hasEchoTool({ timers: systemTimers, permit: async () => {}, findTool });
    };
    const before = await stableDescriptorCount();
    expect(await hasWorkingTool()).toBe(false);
    expect(await hasWorkingTool("broken fping", "broken ping")).toBe(false);
    expect(await hasWorkingTool("broken fping", "ping")).toBe(true);
    expect(await hasWorkingTool("fping")).toBe(true);
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });

  test("is ended with the sweep", async () => {
    writeTool("sleeping", 'for address; do :; done\n[ "$address" = 127.0.0.1 ] && exit 0\nexec sleep 600');
    const before = await stableDescriptorCount();
    const controller = new AbortController();
    const running = sweepOf("127.77.6.0/27", {
      echoMethods: ["Ping"],
      tcpPorts: [9],
      findTool: () => join(folder, "sleeping"),
      signal: controller.signal,
    });
    while (childrenNamed("sleep") < 30) await new Promise(setImmediate);
    controller.abort(new Error("enough"));
    expect(await running.catch(String)).toBe("Error: enough");
    expect(childrenNamed("sleep")).toBe(0);
    expect(await waitForDescriptorCount(before)).toBeLessThanOrEqual(before);
  });
});

/** Running children of this process. */
function childrenNamed(name: string): number {
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      const [, program, state, parent] =
        /^\d+ \((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, "utf8")) ?? [];
      return program === name && state !== "Z" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  }).length;
}

interface NameServer {
  readonly address: string;
  readonly questions: string[];
  /** Resolves after the next question, or a short time. */
  received(): Promise<void>;
}

/** Answers PTR questions: with a name, NXDOMAIN for null, SERVFAIL for `failure`, and not at all for `silence`. */
async function nameServer(answer: (question: string) => string | null): Promise<NameServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (query, { port, address }) => {
    const labels: string[] = [];
    let offset = 12;
    for (; (query[offset] ?? 0) > 0; offset += (query[offset] ?? 0) + 1)
      labels.push(query.toString("latin1", offset + 1, offset + 1 + (query[offset] ?? 0)));
    const question = labels.join(".");
    questions.push(question);
    const name = answer(question);
    if (name === "silence") return;
    const reply = Buffer.from(query.subarray(0, offset + 5));
    reply[2] = 0x81;
    reply[3] = name === null ? 0x83 : name === "failure" ? 0x82 : 0x80;
    reply.fill(0, 6, 12);
    if (name === null || name === "failure") return socket.send(reply, port, address);
    reply[7] = 1;
    const target = Buffer.concat([
      ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
      Buffer.from([0]),
    ]);
    socket.send(
      Buffer.concat([reply, Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 60, 0, target.length]), target]),
      port,
      address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  closing.push(() => socket.close());
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    questions,
    received: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
