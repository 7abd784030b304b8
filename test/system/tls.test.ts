// HTTPS served by the executable: with a certificate and key, or with a self-signed pair; and errors without either.

import { beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { PASSWORD, type Running, withDeadline } from "../support/executable/executable.ts";
import { receivedText } from "../support/executable/received-text.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { type CertificatePair, encryptKey, generateKey, makePair, writePair } from "../support/tls/certificates.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const CLAIM = { organization_name: "Acme", network_name: "Main", email: "o@acme.example", password: PASSWORD };

const sandbox = sandboxForEach();
let pair: CertificatePair;
beforeAll(async () => {
  pair = await makePair(Date.now() - DAY_MS);
});

const flagsOf = (created: CertificatePair, name = "server") => {
  const files = writePair(sandbox.directory, created, name);
  return ["--tls-certificate", files.certificate.path, "--tls-key", files.privateKey.path];
};

const fingerprintOf = (certificate: string) => new X509Certificate(certificate).fingerprint256;

/** Sends a request that trusts exactly one certificate. */
function fetchTrusting(running: Running, path: string, ca: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${running.url}${path}`, { ...init, keepalive: false, tls: { ca } } as RequestInit);
}

/** Completes a handshake, accepting any certificate. */
async function handshake(url: string, version?: SecureVersion): Promise<TLSSocket> {
  const socket = connect({
    host: "127.0.0.1",
    port: Number(new URL(url).port),
    rejectUnauthorized: false,
    ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
  });
  const done = new Promise<TLSSocket>((resolve, reject) => {
    socket.once("secureConnect", () => resolve(socket));
    socket.once("error", reject);
  });
  return withDeadline(done, "the handshake", () => socket.destroy());
}

async function servedFingerprint(url: string): Promise<string> {
  const socket = await handshake(url);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Response to bytes other than TLS, until the connection is closed. */
function rawResponse(url: string, bytes: string): Promise<string> {
  const socket: Socket = connectPlain(Number(new URL(url).port), "127.0.0.1", () => void socket.end(bytes));
  return receivedText(socket);
}

describe("an appliance with a certificate and its key", () => {
  test("serves HTTPS, with Secure cookies and HSTS", async () => {
    const running = await sandbox.serve([...flagsOf(pair), "--host-name", "netledger.lan"]);
    expect(running.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await running.waitForLog("started");
    expect(running.log).toContain(`url=${running.url} `);
    expect(running.log).toContain(`certificate=${fingerprintOf(pair.certificate)} `);
    expect(running.lines[3]).toBe(
      `Its certificate is ${join(sandbox.directory, "server.crt")}, SHA-256 fingerprint ${fingerprintOf(pair.certificate)}`,
    );
    expect(running.lines[2]).toStartWith(`Claim it in a browser: ${running.url}/#setup=`);

    const health = await fetchTrusting(running, "/api/health", pair.certificate);
    expect([health.status, health.headers.get("strict-transport-security")]).toEqual([200, "max-age=31536000"]);
    // For any host name: browsers honor it over TLS.
    const page = await fetchTrusting(running, "/docs", pair.certificate, { headers: { host: "netledger.lan" } });
    expect([page.status, page.headers.get("cross-origin-opener-policy")]).toEqual([200, "same-origin"]);
    const claimed = await fetchTrusting(running, "/api/auth/setup", pair.certificate, {
      method: "POST",
      body: JSON.stringify({ ...CLAIM, setup_token: running.setupToken }),
      headers: { "content-type": "application/json", origin: running.url },
    });
    expect(claimed.status).toBe(200);
    expect(claimed.headers.get("set-cookie")).toMatch(
      /^session_id=.+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/i,
    );
    expect((await running.stop()).code).toBe(0);
  });

  test("serves every path as over HTTP", async () => {
    const secure = await sandbox.serve(flagsOf(pair));
    const plain = await sandbox.serve([], { data: sandbox.path("plain") });
    const describeResponse = async (response: Response) => {
      await response.body?.cancel();
      const { status, headers } = response;
      return { status, type: headers.get("content-type"), hsts: headers.get("strict-transport-security") };
    };
    const paths = `/ /docs /docs/ /docs/scalar.js /handbook /handbook/time/ /api/openapi.json /openapi.json /api/health
      /api/health/ /api/health? /api/h%65alth /api/v1/hosts/ /api/v1/hosts/%ff /api/auth/login /api/nothing`;
    for (const path of paths.split(/\s+/))
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        const init = { method, redirect: "manual" } as const;
        const plainResponse = await describeResponse(await fetch(`${plain.url}${path}`, init));
        const secureResponse = await describeResponse(await fetchTrusting(secure, path, pair.certificate, init));
        expect(plainResponse.hsts).toBeNull();
        expect([method, path, secureResponse]).toEqual([method, path, { ...plainResponse, hsts: "max-age=31536000" }]);
      }
  });

  test("accepts TLS 1.2 and 1.3, and nothing older", async () => {
    const running = await sandbox.serve(flagsOf(pair));
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake(running.url, version);
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    for (const version of ["TLSv1", "TLSv1.1"] as const) expect(handshake(running.url, version)).rejects.toThrow();
  });

  test("closes non-TLS connections immediately, without blocking others", async () => {
    const running = await sandbox.serve(flagsOf(pair));
    const secret = "Bearer nlk_0123456789";
    for (const bytes of [
      `GET /api/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${secret}\r\n\r\n`,
      "SSH-2.0-OpenSSH_9\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
      "\0".repeat(100_000),
      "",
    ]) {
      expect(await rawResponse(running.url, bytes)).not.toMatch(/^HTTP/);
    }
    const silent = connectPlain(Number(new URL(running.url).port), "127.0.0.1");
    expect((await fetchTrusting(running, "/api/health", pair.certificate)).status).toBe(200);
    silent.destroy();
    const { code, err } = await running.stop();
    expect(code).toBe(0);
    expect(err).not.toContain(secret);
    expect(err).not.toContain("ERROR");
  });

  test("serves an expired certificate with a warning", async () => {
    const old = await makePair(Date.now() - 100 * DAY_MS, 90);
    const running = await sandbox.serve(flagsOf(old));
    await running.waitForLog("certificate_expired");
    expect(await servedFingerprint(running.url)).toBe(fingerprintOf(old.certificate));
  });

  test("reloads a changed certificate on SIGHUP, keeping running requests, and ignores a bad one", async () => {
    const running = await sandbox.serve(flagsOf(pair));
    const { key } = await claimAppliance(running, pair.certificate);
    const headers = { authorization: `Bearer ${key}` };
    const head = await fetchTrusting(running, "/api/v1/changes", pair.certificate, { headers });
    const { after, mark } = feedOf(await head.json());
    // Over a connection made before the reload: a later one would have to trust the next certificate.
    const connection = await handshake(running.url);
    const pending = receivedText(connection);
    connection.write(
      `GET /api/v1/changes?after=${after}&mark=${mark}&wait=60 HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
        `Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    expect((await fetchTrusting(running, "/api/health", pair.certificate)).status).toBe(200);
    const next = await makePair(Date.now() - DAY_MS);
    flagsOf(next);
    running.kill("SIGHUP");
    await running.waitForLog("certificate_taken_over");
    expect(await servedFingerprint(running.url)).toBe(fingerprintOf(next.certificate));
    expect((await fetchTrusting(running, "/api/health", next.certificate)).status).toBe(200);
    // This write completes a waiting request.
    const created = await fetchTrusting(running, "/api/v1/tags", next.certificate, {
      method: "POST",
      body: '{"name":"a","color":"Red"}',
      headers: { "content-type": "application/json", ...headers },
    });
    expect(created.status).toBe(200);
    const received = await pending;
    expect(received).toStartWith("HTTP/1.1 200 OK");
    expect(received.match(/"entity_type":"\w+","operation":"\w+"/g)).toEqual([
      '"entity_type":"tag","operation":"Created"',
    ]);

    writeFileSync(join(sandbox.directory, "server.key"), generateKey());
    running.kill("SIGHUP");
    await running.waitForLog("certificate_not_taken_over");
    expect(running.log).toContain("is not the key of the certificate in");
    expect(await servedFingerprint(running.url)).toBe(fingerprintOf(next.certificate));
    expect((await running.stop()).code).toBe(0);
  });

  test.each<[string, string, () => Partial<CertificatePair>]>([
    ["a key of another certificate", "is not the key of the certificate in", () => ({ privateKey: generateKey() })],
    [
      "a passphrase-protected key",
      "is encrypted, and netledger cannot ask for its passphrase",
      () => ({ privateKey: encryptKey(pair.privateKey) }),
    ],
    [
      "a file that is not PEM",
      "is not PEM: it contains no -----BEGIN CERTIFICATE-----",
      () => ({ certificate: "hello" }),
    ],
  ])("refuses %s at startup, before anything is created", async (_case, reason, make) => {
    const flags = flagsOf({ ...pair, ...make() });
    const { code, err } = await sandbox.command("serve", "--listen", "127.0.0.1:0", ...flags);
    expect(code).toBe(2);
    expect(err).toContain(reason);
    expect(err).toMatch(/^netledger: --tls-(certificate|key) \//);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(statSync(sandbox.data, { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each([
    ["--tls-certificate a", "--tls-certificate and --tls-key must be given together"],
    ["--tls-self-signed --tls-certificate a --tls-key b", "--tls-self-signed and --tls-certificate cannot be combined"],
    ["--plain-http --tls-self-signed", "--plain-http means no TLS"],
    ["--read-only x.db --tls-self-signed", "--tls-self-signed keeps its certificate in the data folder"],
    ["--tls-certificate /nowhere/a --tls-key /nowhere/b", "--tls-certificate /nowhere/a cannot be read (ENOENT)"],
  ])("%s is an invalid command line", async (flags, reason) => {
    const { code, err } = await sandbox.command("serve", "--listen", "127.0.0.1:0", ...flags.split(" "));
    expect([code, err]).toEqual([2, expect.stringContaining(`netledger: ${reason}`)]);
  });

  test("serves a backup the same way", async () => {
    const { key } = await sandbox.setUp();
    const file = sandbox.path("a.db");
    expect((await sandbox.command("backup", file)).code).toBe(0);
    const running = await sandbox.serve(["--read-only", file, ...flagsOf(pair)]);
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetchTrusting(running, "/api/v1/networks", pair.certificate, { headers })).status).toBe(200);
    expect(running.lines[3]).toContain(fingerprintOf(pair.certificate));
  });
});

describe("an appliance with a self-signed certificate", () => {
  test("creates it at the first start, prints it, and reuses it at the next", async () => {
    const first = await sandbox.serve(["--tls-self-signed"]);
    const path = join(sandbox.data, "netledger-tls.crt");
    const certificate = readFileSync(path, "utf8");
    const fingerprint = fingerprintOf(certificate);
    expect(first.lines[3]).toBe(`Its own certificate is ${path}, SHA-256 fingerprint ${fingerprint}`);
    expect(first.lines[2]).toStartWith(`Claim it in a browser: ${first.url}/#setup=`);
    await first.waitForLog("started");
    expect(first.log).toContain(`certificate_made fingerprint=${fingerprint} `);
    expect(await servedFingerprint(first.url)).toBe(fingerprint);
    expect(statSync(join(sandbox.data, "netledger-tls.key")).mode & 0o777).toBe(0o600);
    // A client that trusts this certificate needs no exemption: the address is one of its names.
    expect((await fetchTrusting(first, "/api/health", certificate)).status).toBe(200);
    expect((await first.stop()).code).toBe(0);

    const second = await sandbox.serve(["--tls-self-signed"]);
    expect(await servedFingerprint(second.url)).toBe(fingerprint);
    await second.waitForLog("started");
    expect(second.log).not.toContain("certificate_made");
  });

  test("keeps its key out of the log and backups", async () => {
    const running = await sandbox.serve(["--tls-self-signed"]);
    const file = sandbox.path("a.db");
    expect((await sandbox.command("backup", file)).code).toBe(0);
    const key = readFileSync(join(sandbox.data, "netledger-tls.key"), "utf8").split("\n")[1] as string;
    const { out, err } = await running.stop();
    expect(out + err).not.toContain(key);
    expect(readFileSync(file).includes(key)).toBe(false);
  });
});

describe("an address reachable by others", () => {
  const exposedMessage =
    "is reachable from other machines, and HTTP exposes passwords and keys in transit: give --tls-certificate FILE and --tls-key FILE, or --tls-self-signed, or --plain-http";
  const externalAddress = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  test.each(["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"])(
    "%s is served by TLS only, unless --plain-http is given",
    async (listen) => {
      const { code, err } = await sandbox.command("serve", "--listen", listen);
      expect([code, err]).toEqual([2, expect.stringContaining(`netledger: --listen ${listen} ${exposedMessage}`)]);
      expect(statSync(sandbox.data, { throwIfNoEntry: false })).toBeUndefined();
      const readOnly = await sandbox.run(["serve", "--read-only", sandbox.path("a.db"), "--listen", listen]);
      expect([readOnly.code, readOnly.err]).toEqual([2, expect.stringContaining(exposedMessage)]);
    },
  );

  test("is served by TLS", async () => {
    const running = await sandbox.serve(["--tls-self-signed"], { listen: "0.0.0.0:0" });
    const certificate = new X509Certificate(readFileSync(join(sandbox.data, "netledger-tls.crt")));
    if (externalAddress !== undefined) expect(certificate.checkIP(externalAddress)).toBe(externalAddress);
    expect(await servedFingerprint(running.url)).toBe(certificate.fingerprint256);
  });

  test("is served by plain HTTP if requested", async () => {
    const running = await sandbox.serve(["--plain-http"], { listen: "0.0.0.0:0" });
    // The wildcard is not an address that a browser could open.
    const links = running.lines[2]?.match(/http:\S+/g) ?? [];
    expect(links[0]).toStartWith(`http://127.0.0.1:${new URL(running.url).port}/#setup=`);
    expect(links.join()).not.toContain("0.0.0.0");
    if (externalAddress !== undefined)
      expect(links.some((link) => new URL(link).hostname === externalAddress)).toBe(true);
    const response = await fetch(`http://127.0.0.1:${new URL(running.url).port}/api/health`);
    expect([response.status, response.headers.has("strict-transport-security")]).toEqual([200, false]);
  });

  test.each(["127.0.0.1:0", "127.9.8.7:0", "localhost:0"])("%s counts as this machine", async (listen) => {
    const running = await sandbox.serve([], { listen });
    expect(running.url).toStartWith("http://");
  });

  test("is reported if unresolvable", async () => {
    const { code, err } = await sandbox.command("serve", "--listen", "nowhere.invalid:0");
    expect([code, err]).toEqual([4, "netledger: Cannot listen on nowhere.invalid: the name does not resolve.\n"]);
  });
});

/** Claims an appliance over TLS. @returns a key of its Owner */
async function claimAppliance(running: Running, ca: string): Promise<{ key: string }> {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetchTrusting(running, path, ca, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
    return { headers: response.headers, data: ((await response.json()) as { data: Record<string, never> }).data };
  };
  const created = await post("/api/auth/setup", { ...CLAIM, setup_token: running.setupToken });
  const { user, organization_id } = created.data as unknown as { user: { id: string }; organization_id: string };
  const cookie = created.headers.get("set-cookie")?.split(";")[0] ?? "";
  const key = { name: "a", organization_id, user_id: user.id, tags: [], permissions: "Owner" };
  const { data } = await post("/api/v1/auth/keys", key, { cookie });
  return { key: data.key as unknown as string };
}

function feedOf(body: unknown): { after: number; mark: string } {
  return (body as { meta: { feed: { after: number; mark: string } } }).meta.feed;
}
