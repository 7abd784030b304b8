// Host header of a request on the wire: exactly one (RFC 9112 section 3.2).

import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Running } from "../support/executable/executable.ts";
import { receivedText } from "../support/executable/received-text.ts";
import { sandboxForAll, sandboxForEach } from "../support/executable/sandboxes.ts";
import { makePair, writePair } from "../support/tls/certificates.ts";

const sandbox = sandboxForAll();
let running: Running;
beforeAll(async () => {
  const names = ["--host-name", "inventory.example", "--host-name", "NETLEDGER,xn--bcher-kva.example."];
  running = await sandbox.serve(names);
});

/** Status and body of a response. */
async function sendRequest(
  path: string,
  lines: readonly string[],
  version = "1.1",
  { url } = running,
): Promise<{ status: number; body: string }> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  socket.end(`${[`GET ${path} HTTP/${version}`, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const response = await receivedText(socket);
  return { status: Number(response.split(" ")[1]), body: response.slice(response.indexOf("\r\n\r\n") + 4) };
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
])("any request with Host headers of %s is refused with 400", async (_case, lines) => {
  for (const path of PATHS) {
    const { status, body } = await sendRequest(path, lines);
    expect([path, status]).toEqual([path, 400]);
    const params = { issues: [{ path: "/Host" }] };
    expect(JSON.parse(body)).toMatchObject({ success: false, code: "validation_failed", params });
  }
});

test("a missing Host is refused with 400 by HTTP/1.1, and allowed by HTTP/1.0", async () => {
  expect((await sendRequest("/api/version", [])).status).toBe(400);
  expect((await sendRequest("/api/version", [], "1.0")).status).toBe(200);
  expect((await sendRequest("/api/version", ["Host: localhost", "Host: localhost"], "1.0")).status).toBe(400);
  expect((await sendRequest("/api/version", ["Host: a.example"], "1.0")).status).toBe(421);
});

test.each([
  ..."localhost LOCALHOST:8080 a_b.localhost. 192.0.2.1 192.0.2.1:80 [::1] [2001:db8::1]:8443".split(" "),
  ..."inventory.example Inventory.Example.:443 netledger xn--bcher-kva.example".split(" "),
])("%s is accepted on loopback", async (host) => {
  for (const target of ["/api/version", "http://a.example/api/version"])
    expect((await sendRequest(target, [`Host: ${host}`])).status).toBe(200);
});

test.each(["a.example", "A.EXAMPLE.:8080", "localhost.a.example", "a.inventory.example", "x", "127.0.0.1.a.example"])(
  "%s is refused on loopback with 421 for any request",
  async (host) => {
    for (const path of [...PATHS, "http://localhost/api/version", "/api/v1/changes", "/hosts"]) {
      const lines = [`Host: ${host}`, "X-Forwarded-Host: localhost", "Accept: text/html, text/event-stream"];
      const { status, body } = await sendRequest(path, lines);
      expect([path, status]).toEqual([path, 421]);
      expect(JSON.parse(body)).toMatchObject({ success: false, code: "host_not_allowed", params: {} });
      expect(JSON.parse(body).error).toContain("reverse proxy on the same machine");
    }
  },
);

describe("an appliance that other machines can reach", () => {
  /** Status of a request for a host name over TLS. */
  async function requestOverTls(url: string, host: string): Promise<number> {
    const socket = connectTls({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false });
    socket.end(`GET /api/version HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return Number((await receivedText(socket)).split(" ")[1]);
  }
  const codesOf = async (url: string) => {
    const init = { tls: { rejectUnauthorized: false } } as RequestInit;
    const health: any = await (await fetch(`${url.replace("0.0.0.0", "127.0.0.1")}/api/health`, init)).json();
    return health.data.limitations.map(({ code }: { code: string }) => code);
  };
  const tlsSandbox = sandboxForEach();

  test("accepts only names of the certificate, including those of a new certificate immediately", async () => {
    const from = Date.now() - 24 * 60 * 60 * 1000;
    const files = writePair(tlsSandbox.directory, await makePair(from, 90, ["*.example.net", "127.0.0.1"]));
    const flags = ["--tls-certificate", files.certificate.path, "--tls-key", files.privateKey.path];
    const served = await tlsSandbox.serve([...flags, "--host-name", "inventory.lan"], { listen: "0.0.0.0:0" });
    const names = ["inventory.lan", "10.0.0.5", "localhost", "a.example.net", "B.EXAMPLE.NET.:443", "new.example"];
    const statuses = () => Promise.all(names.map((name) => requestOverTls(served.url, name)));
    expect(await statuses()).toEqual([200, 200, 421, 200, 200, 421]);
    expect(await codesOf(served.url)).not.toContain("host_not_checked");
    writePair(tlsSandbox.directory, await makePair(from, 90, ["new.example"]));
    served.kill("SIGHUP");
    await served.waitForLog("certificate_taken_over");
    expect(await statuses()).toEqual([200, 200, 421, 421, 421, 200]);
  });

  test("accepts all hosts without a certificate and host names, and reports it in log and health", async () => {
    const served = await tlsSandbox.serve(["--plain-http"], { listen: "0.0.0.0:0" });
    expect((await sendRequest("/api/version", ["Host: a.example"], "1.1", served)).status).toBe(200);
    expect(await codesOf(served.url)).toContain("host_not_checked");
    await served.waitForLog("limitation=host_not_checked");
    await served.stop();
    const env = { NETLEDGER_HOST_NAME: "a.example,b.example" };
    const namedHosts = await tlsSandbox.serve(["--plain-http"], { listen: "0.0.0.0:0", env });
    const statusOf = async (name: string) =>
      (await sendRequest("/api/version", [`Host: ${name}`], "1.1", namedHosts)).status;
    expect(await Promise.all(["a.example", "b.example", "c.example"].map(statusOf))).toEqual([200, 200, 421]);
    expect(await codesOf(namedHosts.url)).not.toContain("host_not_checked");
  });
});
