// Host of a request on the wire: exactly one (RFC 9112 section 3.2).

import { beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Running, withDeadline } from "../support/executable/executable.ts";
import { workplaceForAll, workplaceForEach } from "../support/executable/workplaces.ts";
import { makePair, writePair } from "../support/tls/certificates.ts";

const place = workplaceForAll();
let running: Running;
beforeAll(async () => {
  running = await place.serve(["--host-name", "inventory.example", "--host-name", "NETLEDGER,xn--bcher-kva.example."]);
});

/** Reads until the connection is closed. */
function wholeOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  const text = new Promise<string>((resolve, reject) => {
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.on("close", () => resolve(Buffer.concat(pieces).toString()));
    socket.on("error", reject);
  });
  return withDeadline(text, "an answer", () => socket.destroy());
}

/** Status and body of an answer. */
async function ask(
  path: string,
  lines: readonly string[],
  version = "1.1",
  { url } = running,
): Promise<{ status: number; body: string }> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  socket.end(`${[`GET ${path} HTTP/${version}`, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const whole = await wholeOf(socket);
  return { status: Number(whole.split(" ")[1]), body: whole.slice(whole.indexOf("\r\n\r\n") + 4) };
}

const PATHS = ["/api/version", "/api/health", "/api/v1/hosts", "/api/nothing", "/docs", "/docs/", "/openapi.json", "/"];

test.each<[string, string[]]>([
  ["two names", ["Host: a.example", "Host: b.example"]],
  ["the same name twice", ["Host: a.example", "Host: a.example"]],
  ["two names in headers of different case", ["host: a.example", "HOST: b.example"]],
  ["a name before an empty one", ["Host: a.example", "Host:"]],
  ["an empty one before a name", ["Host:", "Host: a.example"]],
  ["two empty names", ["Host:", "Host:"]],
  ["two names in one line", ["Host: a.example, b.example"]],
  ["an empty name", ["Host:"]],
  ["a name with a space", ["Host: a b"]],
  ["a name with a path", ["Host: a.example/api"]],
  ["a name with a user", ["Host: user@a.example"]],
  ["a name with two ports", ["Host: a.example:80:81"]],
  ["a name with a malformed port", ["Host: a.example:http"]],
  ["an address without brackets", ["Host: ::1"]],
])("with Host headers of %s any request is refused with 400", async (_what, lines) => {
  for (const path of PATHS) {
    const { status, body } = await ask(path, lines);
    expect([path, status]).toEqual([path, 400]);
    expect(JSON.parse(body)).toMatchObject({
      success: false,
      code: "validation_failed",
      params: { issues: [{ path: "/Host" }] },
    });
  }
});

test("a missing Host is refused with 400 by HTTP/1.1, and allowed by HTTP/1.0", async () => {
  expect((await ask("/api/version", [])).status).toBe(400);
  expect((await ask("/api/version", [], "1.0")).status).toBe(200);
  expect((await ask("/api/version", ["Host: localhost", "Host: localhost"], "1.0")).status).toBe(400);
  expect((await ask("/api/version", ["Host: a.example"], "1.0")).status).toBe(421);
});

test.each([
  "localhost",
  "LOCALHOST:8080",
  "a_b.localhost.",
  "192.0.2.1",
  "192.0.2.1:80",
  "[::1]",
  "[2001:db8::1]:8443",
  "inventory.example",
  "Inventory.Example.:443",
  "netledger",
  "xn--bcher-kva.example",
])("on loopback, %s is accepted", async (host) => {
  for (const target of ["/api/version", "http://a.example/api/version"])
    expect((await ask(target, [`Host: ${host}`])).status).toBe(200);
});

test.each(["a.example", "A.EXAMPLE.:8080", "localhost.a.example", "a.inventory.example", "x", "127.0.0.1.a.example"])(
  "on loopback, %s is refused with 421, whatever the request",
  async (host) => {
    for (const path of [...PATHS, "http://localhost/api/version", "/api/v1/changes", "/hosts"]) {
      const lines = [`Host: ${host}`, "X-Forwarded-Host: localhost", "Accept: text/html, text/event-stream"];
      const { status, body } = await ask(path, lines);
      expect([path, status]).toEqual([path, 421]);
      expect(JSON.parse(body)).toMatchObject({
        success: false,
        code: "host_not_allowed",
        error: expect.stringContaining("reverse proxy on the same machine"),
        params: {},
      });
    }
  },
);

describe("if others can connect", () => {
  /** Status of a request for a host name over TLS. */
  async function askOverTls(url: string, host: string): Promise<number> {
    const socket = connectTls({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false });
    socket.end(`GET /api/version HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return Number((await wholeOf(socket)).split(" ")[1]);
  }
  const codesOf = async (url: string) => {
    const health = await fetch(`${url.replace("0.0.0.0", "127.0.0.1")}/api/health`, {
      tls: { rejectUnauthorized: false },
    } as RequestInit);
    return ((await health.json()) as any).data.limitations.map(({ code }: { code: string }) => code);
  };
  const elsewhere = workplaceForEach();

  test("only the certificate's names are accepted, including those of a new one immediately", async () => {
    const from = Date.now() - 24 * 60 * 60 * 1000;
    const files = writePair(elsewhere.directory, await makePair(from, 90, ["*.example.net", "127.0.0.1"]));
    const flags = ["--tls-certificate", files.certificate.path, "--tls-key", files.privateKey.path];
    const served = await elsewhere.serve([...flags, "--host-name", "inventory.lan"], { listen: "0.0.0.0:0" });
    const statuses = async () =>
      Object.fromEntries(
        await Promise.all(
          ["a.example.net", "B.EXAMPLE.NET.:443", "inventory.lan", "10.0.0.5", "new.example", "localhost"].map(
            async (name) => [name, await askOverTls(served.url, name)] as const,
          ),
        ),
      );
    const always = { "inventory.lan": 200, "10.0.0.5": 200, localhost: 421 };
    expect(await statuses()).toEqual({
      ...always,
      "a.example.net": 200,
      "B.EXAMPLE.NET.:443": 200,
      "new.example": 421,
    });
    expect(await codesOf(served.url)).not.toContain("host_not_checked");
    writePair(elsewhere.directory, await makePair(from, 90, ["new.example"]));
    served.kill("SIGHUP");
    await served.logged("certificate_taken_over");
    expect(await statuses()).toEqual({
      ...always,
      "a.example.net": 421,
      "B.EXAMPLE.NET.:443": 421,
      "new.example": 200,
    });
  });

  test("without a certificate and a name all are accepted, which log and health report", async () => {
    const served = await elsewhere.serve(["--plain-http"], { listen: "0.0.0.0:0" });
    expect((await ask("/api/version", ["Host: a.example"], "1.1", served)).status).toBe(200);
    expect(await codesOf(served.url)).toContain("host_not_checked");
    await served.logged("limitation=host_not_checked");
    await served.stop();
    const named = await elsewhere.serve(["--plain-http"], {
      listen: "0.0.0.0:0",
      env: { NETLEDGER_HOST_NAME: "a.example,b.example" },
    });
    const statusOf = async (name: string) => (await ask("/api/version", [`Host: ${name}`], "1.1", named)).status;
    expect(await Promise.all(["a.example", "b.example", "c.example"].map(statusOf))).toEqual([200, 200, 421]);
    expect(await codesOf(named.url)).not.toContain("host_not_checked");
  });
});
