// HTTPS of the executable: with a certificate and key, or with its own pair; and refusals without either.

import { beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { PASSWORD, type Running, withDeadline } from "../support/executable/executable.ts";
import { workplaceForEach } from "../support/executable/workplaces.ts";
import { encrypted, type MadePair, makePair, otherKey, writePair } from "../support/tls/certificates.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const place = workplaceForEach();
let pair: MadePair;
beforeAll(async () => {
  pair = await makePair(Date.now() - DAY_MS);
});

const flagsOf = (made: MadePair, name = "server") => {
  const files = writePair(place.directory, made, name);
  return ["--tls-certificate", files.certificate.path, "--tls-key", files.privateKey.path];
};

const fingerprintOf = (certificate: string) => new X509Certificate(certificate).fingerprint256;

/** A request that trusts exactly one certificate. */
function ask(running: Running, path: string, ca: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${running.url}${path}`, { ...init, keepalive: false, tls: { ca } } as RequestInit);
}

/** A complete handshake, with any certificate. */
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

async function shownFingerprint(url: string): Promise<string> {
  const socket = await handshake(url);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Answer to bytes other than TLS, until the connection is closed. */
async function said(url: string, bytes: string): Promise<string> {
  let text = "";
  const socket: Socket = connectPlain(Number(new URL(url).port), "127.0.0.1", () => void socket.end(bytes));
  const closed = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
  return withDeadline(closed, "the end of the connection", () => socket.destroy());
}

describe("with a certificate and its key", () => {
  test("serves HTTPS, with Secure cookies and HSTS", async () => {
    const running = await place.serve([...flagsOf(pair), "--host-name", "netledger.lan"]);
    expect(running.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await running.logged("started");
    expect(running.log).toContain(`url=${running.url} `);
    expect(running.log).toContain(`certificate=${fingerprintOf(pair.certificate)} `);
    expect(running.lines[3]).toBe(
      `Its certificate is ${join(place.directory, "server.crt")}, SHA-256 fingerprint ${fingerprintOf(pair.certificate)}`,
    );
    expect(running.lines[2]).toStartWith(`Claim it in a browser: ${running.url}/#setup=`);

    const health = await ask(running, "/api/health", pair.certificate);
    expect([health.status, health.headers.get("strict-transport-security")]).toEqual([200, "max-age=31536000"]);
    // For any host name: browsers honor it over TLS.
    const page = await ask(running, "/docs", pair.certificate, { headers: { host: "netledger.lan" } });
    expect([page.status, page.headers.get("cross-origin-opener-policy")]).toEqual([200, "same-origin"]);
    const claim = {
      setup_token: running.setupToken,
      organization_name: "Acme",
      network_name: "Main",
      email: "o@acme.example",
      password: PASSWORD,
    };
    const claimed = await ask(running, "/api/auth/setup", pair.certificate, {
      method: "POST",
      body: JSON.stringify(claim),
      headers: { "content-type": "application/json", origin: running.url },
    });
    expect(claimed.status).toBe(200);
    expect(claimed.headers.get("set-cookie")).toMatch(
      /^session_id=.+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/i,
    );
    expect((await running.stop()).code).toBe(0);
  });

  test("serves every path like over HTTP", async () => {
    const secure = await place.serve(flagsOf(pair));
    const plain = await place.serve([], { data: place.path("plain") });
    for (const path of [
      "/",
      "/docs",
      "/docs/",
      "/docs/scalar.js",
      "/handbook",
      "/handbook/time/",
      "/api/openapi.json",
      "/openapi.json",
      "/api/health",
      "/api/health/",
      "/api/health?",
      "/api/h%65alth",
      "/api/v1/hosts/",
      "/api/v1/hosts/%ff",
      "/api/auth/login",
      "/api/nothing",
    ]) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        const there = await fetch(`${plain.url}${path}`, { method, redirect: "manual" });
        const here = await ask(secure, path, pair.certificate, { method, redirect: "manual" });
        expect([method, path, here.status, here.headers.get("content-type")]).toEqual([
          method,
          path,
          there.status,
          there.headers.get("content-type"),
        ]);
        expect([
          method,
          path,
          here.headers.get("strict-transport-security"),
          there.headers.get("strict-transport-security"),
        ]).toEqual([method, path, "max-age=31536000", null]);
        await Promise.all([here.body?.cancel(), there.body?.cancel()]);
      }
    }
  });

  test("accepts TLS 1.2 and 1.3, and nothing older", async () => {
    const running = await place.serve(flagsOf(pair));
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake(running.url, version);
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    for (const version of ["TLSv1", "TLSv1.1"] as const) expect(handshake(running.url, version)).rejects.toThrow();
  });

  test("closes non-TLS connections immediately, without blocking others", async () => {
    const running = await place.serve(flagsOf(pair));
    const secret = "Bearer nlk_0123456789";
    for (const bytes of [
      `GET /api/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${secret}\r\n\r\n`,
      "SSH-2.0-OpenSSH_9\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
      "\0".repeat(100_000),
      "",
    ]) {
      expect(await said(running.url, bytes)).not.toMatch(/^HTTP/);
    }
    const mute = connectPlain(Number(new URL(running.url).port), "127.0.0.1");
    expect((await ask(running, "/api/health", pair.certificate)).status).toBe(200);
    mute.destroy();
    const { code, err } = await running.stop();
    expect(code).toBe(0);
    expect(err).not.toContain(secret);
    expect(err).not.toContain("ERROR");
  });

  test("serves an expired certificate with a warning", async () => {
    const old = await makePair(Date.now() - 100 * DAY_MS, 90);
    const running = await place.serve(flagsOf(old));
    await running.logged("certificate_expired");
    expect(await shownFingerprint(running.url)).toBe(fingerprintOf(old.certificate));
  });

  test("reloads a changed certificate on SIGHUP, keeping running requests, and ignores a bad one", async () => {
    const running = await place.serve(flagsOf(pair));
    const { key } = await claimed(running, pair.certificate);
    const head = await ask(running, "/api/v1/changes", pair.certificate, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { after, mark } = feedOf(await head.json());
    const waiting = ask(running, `/api/v1/changes?after=${after}&mark=${mark}&wait=60`, pair.certificate, {
      headers: { authorization: `Bearer ${key}` },
    });
    const next = await makePair(Date.now() - DAY_MS);
    flagsOf(next);
    running.kill("SIGHUP");
    await running.logged("certificate_taken_over");
    expect(await shownFingerprint(running.url)).toBe(fingerprintOf(next.certificate));
    expect((await ask(running, "/api/health", next.certificate)).status).toBe(200);
    // A waiting request is answered by this write.
    const made = await ask(running, "/api/v1/tags", next.certificate, {
      method: "POST",
      body: '{"name":"a","color":"Red"}',
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    });
    expect(made.status).toBe(200);
    const answer = (await (await waiting).json()) as { data: unknown[] };
    expect(answer.data).toHaveLength(1);

    writeFileSync(join(place.directory, "server.key"), otherKey());
    running.kill("SIGHUP");
    await running.logged("certificate_not_taken_over");
    expect(running.log).toContain("is not the key of the certificate in");
    expect(await shownFingerprint(running.url)).toBe(fingerprintOf(next.certificate));
    expect((await running.stop()).code).toBe(0);
  });

  test.each([
    [
      "a key of another certificate",
      () => ({ ...pair, privateKey: otherKey() }),
      "is not the key of the certificate in",
    ],
    [
      "a passphrase-protected key",
      () => ({ ...pair, privateKey: encrypted(pair.privateKey) }),
      "is encrypted, and netledger cannot ask for its passphrase",
    ],
    [
      "a file that is not PEM",
      () => ({ ...pair, certificate: "hello" }),
      "is not PEM: there is no -----BEGIN CERTIFICATE----- in it",
    ],
  ])("refuses %s at startup, before anything is created", async (_what, make, reason) => {
    const { code, err } = await place.run([
      "serve",
      "--data",
      place.data,
      "--listen",
      "127.0.0.1:0",
      ...flagsOf(make() as MadePair),
    ]);
    expect(code).toBe(2);
    expect(err).toContain(reason);
    expect(err).toMatch(/^netledger: --tls-(certificate|key) \//);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(statSync(place.data, { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each([
    [["--tls-certificate", "a"], "--tls-certificate and --tls-key must be given together"],
    [
      ["--tls-self-signed", "--tls-certificate", "a", "--tls-key", "b"],
      "--tls-self-signed and --tls-certificate cannot be combined",
    ],
    [["--plain-http", "--tls-self-signed"], "--plain-http means no TLS"],
    [["--read-only", "x.db", "--tls-self-signed"], "--tls-self-signed keeps its certificate in the data folder"],
    [
      ["--tls-certificate", "/nowhere/a", "--tls-key", "/nowhere/b"],
      "--tls-certificate /nowhere/a cannot be read (ENOENT)",
    ],
  ])("%p is an invalid command line", async (flags, reason) => {
    const { code, err } = await place.command("serve", "--listen", "127.0.0.1:0", ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(`netledger: ${reason}`)]);
  });

  test("a backup is served the same way", async () => {
    const { key } = await place.setUp();
    const file = place.path("a.db");
    expect((await place.command("backup", file)).code).toBe(0);
    const running = await place.serve(["--read-only", file, ...flagsOf(pair)]);
    expect(
      (await ask(running, "/api/v1/networks", pair.certificate, { headers: { authorization: `Bearer ${key}` } }))
        .status,
    ).toBe(200);
    expect(running.lines[3]).toContain(fingerprintOf(pair.certificate));
  });
});

describe("with a self-signed certificate", () => {
  test("it is created at the first start, shown to users, and kept at the next", async () => {
    const first = await place.serve(["--tls-self-signed"]);
    const path = join(place.data, "netledger-tls.crt");
    const certificate = readFileSync(path, "utf8");
    const fingerprint = fingerprintOf(certificate);
    expect(first.lines[3]).toBe(`Its own certificate is ${path}, SHA-256 fingerprint ${fingerprint}`);
    expect(first.lines[2]).toStartWith(`Claim it in a browser: ${first.url}/#setup=`);
    await first.logged("started");
    expect(first.log).toContain(`certificate_made fingerprint=${fingerprint} `);
    expect(await shownFingerprint(first.url)).toBe(fingerprint);
    expect(statSync(join(place.data, "netledger-tls.key")).mode & 0o777).toBe(0o600);
    // A client that trusts this certificate needs no exemption: the address is one of its names.
    expect((await ask(first, "/api/health", certificate)).status).toBe(200);
    expect((await first.stop()).code).toBe(0);

    const second = await place.serve(["--tls-self-signed"]);
    expect(await shownFingerprint(second.url)).toBe(fingerprint);
    await second.logged("started");
    expect(second.log).not.toContain("certificate_made");
  });

  test("its key is neither in the log nor in a backup", async () => {
    const running = await place.serve(["--tls-self-signed"]);
    const file = place.path("a.db");
    expect((await place.command("backup", file)).code).toBe(0);
    const key = readFileSync(join(place.data, "netledger-tls.key"), "utf8").split("\n")[1] as string;
    const { out, err } = await running.stop();
    expect(out + err).not.toContain(key);
    expect(readFileSync(file).includes(key)).toBe(false);
  });
});

describe("on an address reachable by others", () => {
  const beyond =
    "is reachable from other machines, and HTTP exposes passwords and keys on the way: give --tls-certificate FILE and --tls-key FILE, or --tls-self-signed, or --plain-http";
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  test.each(["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"])(
    "%s is served by TLS only, unless --plain-http is given",
    async (listen) => {
      const { code, err } = await place.command("serve", "--listen", listen);
      expect([code, err]).toEqual([2, expect.stringContaining(`netledger: --listen ${listen} ${beyond}`)]);
      expect(statSync(place.data, { throwIfNoEntry: false })).toBeUndefined();
      const readOnly = await place.run(["serve", "--read-only", place.path("a.db"), "--listen", listen]);
      expect([readOnly.code, readOnly.err]).toEqual([2, expect.stringContaining(beyond)]);
    },
  );

  test("TLS is served", async () => {
    const running = await place.serve(["--tls-self-signed"], { listen: "0.0.0.0:0" });
    const certificate = new X509Certificate(readFileSync(join(place.data, "netledger-tls.crt")));
    if (own !== undefined) expect(certificate.checkIP(own)).toBe(own);
    expect(await shownFingerprint(running.url)).toBe(certificate.fingerprint256);
  });

  test("plain HTTP is served if requested", async () => {
    const running = await place.serve(["--plain-http"], { listen: "0.0.0.0:0" });
    // The wildcard is not an address that a browser could open.
    const links = running.lines[2]?.match(/http:\S+/g) ?? [];
    expect(links[0]).toStartWith(`http://127.0.0.1:${new URL(running.url).port}/#setup=`);
    expect(links.join()).not.toContain("0.0.0.0");
    if (own !== undefined) expect(links.some((link) => new URL(link).hostname === own)).toBe(true);
    const response = await fetch(`http://127.0.0.1:${new URL(running.url).port}/api/health`);
    expect([response.status, response.headers.has("strict-transport-security")]).toEqual([200, false]);
  });

  test.each(["127.0.0.1:0", "127.9.8.7:0", "localhost:0"])("%s is this machine", async (listen) => {
    const running = await place.serve([], { listen });
    expect(running.url).toStartWith("http://");
  });

  test("an unresolvable name is reported as such", async () => {
    const { code, err } = await place.command("serve", "--listen", "nowhere.invalid:0");
    expect([code, err]).toEqual([4, "netledger: Cannot listen on nowhere.invalid: the name does not resolve.\n"]);
  });
});

/** Claims an appliance over TLS. @returns a key of its Owner */
async function claimed(running: Running, ca: string): Promise<{ key: string }> {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await ask(running, path, ca, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
    return { headers: response.headers, data: ((await response.json()) as { data: Record<string, never> }).data };
  };
  const made = await post("/api/auth/setup", {
    setup_token: running.setupToken,
    organization_name: "Acme",
    network_name: "Main",
    email: "o@acme.example",
    password: PASSWORD,
  });
  const { user, organization_id } = made.data as unknown as { user: { id: string }; organization_id: string };
  const cookie = made.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { data } = await post(
    "/api/v1/auth/keys",
    { name: "a", organization_id, user_id: user.id, tags: [], permissions: "Owner" },
    { cookie },
  );
  return { key: data.key as unknown as string };
}

function feedOf(body: unknown): { after: number; mark: string } {
  return (body as { meta: { feed: { after: number; mark: string } } }).meta.feed;
}
