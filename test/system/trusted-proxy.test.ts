// Caller addresses on the wire: by socket and header lines as received by the executable.

import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  ensureExecutable,
  OWNER,
  PASSWORD,
  type Running,
  Sandbox,
  withDeadline,
} from "../support/executable/executable.ts";
import { receivedText } from "../support/executable/received-text.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

/** All of 127.0.0.0/8 belongs to this machine: any of these can be a peer. */
const [PROXY, OTHER] = ["127.0.0.2", "127.0.0.3"];

beforeAll(() => ensureExecutable());

/** Sends a request from one of this machine's addresses. @returns the status */
async function requestFrom(running: Running, from: string, lines: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(running.url);
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host: host === "::" ? "127.0.0.1" : host, port: Number(port), localAddress: from });
  socket.end(`${["GET /api/v1/tags HTTP/1.1", "Host: localhost", ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  return Number((await receivedText(socket)).split(" ")[1]);
}

let requestCount = 0;
/** Logged source address of a request. */
async function sourceOf(running: Running, from: string, lines: readonly string[]): Promise<string | undefined> {
  requestCount += 1;
  const id = `asked-${requestCount}.`;
  expect(await requestFrom(running, from, [`X-Request-Id: ${id}`, ...lines])).toBe(401);
  await running.waitForLog(id);
  const line = running.log.split("\n").find((logLine) => logLine.includes(id)) ?? "";
  return /"source":"([^"]*)"/.exec(line)?.[1];
}

describe("an appliance that trusts a proxy", () => {
  const sandbox = sandboxForAll();
  let running: Running;
  beforeAll(async () => {
    running = await sandbox.serve(["--trusted-proxy", `${PROXY},192.0.2.0/24`, "--log-format", "json"]);
  });

  test.each<[string, string[], string]>([
    ["the forwarded address", ["X-Forwarded-For: 203.0.113.5"], "203.0.113.5"],
    ["the last of several", ["X-Forwarded-For: 198.51.100.1, 203.0.113.5"], "203.0.113.5"],
    ["the last of several lines", ["X-Forwarded-For: 198.51.100.1", "x-forwarded-for: 203.0.113.5"], "203.0.113.5"],
    ["the address before an empty line", ["X-Forwarded-For: 203.0.113.5", "X-Forwarded-For:"], "203.0.113.5"],
    ["one before proxies", ["X-Forwarded-For: 203.0.113.5", "X-Forwarded-For: 192.0.2.8, 192.0.2.9"], "203.0.113.5"],
    ["an address with a port", ["X-Forwarded-For: [2001:db8::5]:443"], "2001:db8::5"],
    ["the last of many", [`X-Forwarded-For: ${"198.51.100.1, ".repeat(900)}203.0.113.5`], "203.0.113.5"],
    ["the peer if the value is not an address", ["X-Forwarded-For: 203.0.113.5, unknown"], PROXY],
    ["the peer without a header", [], PROXY],
    ["the peer for a header of another standard", ["Forwarded: for=203.0.113.5"], PROXY],
  ])("identifies the caller as %s", async (_case, lines, source) => {
    expect(await sourceOf(running, PROXY, lines)).toBe(source);
  });

  test("trusts no other peer", async () => {
    expect(await sourceOf(running, OTHER, ["X-Forwarded-For: 203.0.113.5"])).toBe(OTHER);
    expect(await sourceOf(running, OTHER, [`X-Forwarded-For: 203.0.113.5, ${PROXY}`])).toBe(OTHER);
  });
});

describe("a key with allowed sources", () => {
  const sandbox = sandboxForAll();
  let running: Running;
  beforeAll(async () => {
    await sandbox.setUp();
    running = await sandbox.serve(["--trusted-proxy", PROXY]);
  });

  const keyFrom = async (...sources: string[]) => {
    const flags = ["--email", OWNER, "--name", `from ${sources}`, "--permissions", "Member"];
    const limits = sources.length === 0 ? [] : ["--allowed-sources", sources.join()];
    const { out } = await sandbox.command("key", "create", ...flags, ...limits);
    return out.trim();
  };

  test("works from these and is unknown from others, by socket and by proxy", async () => {
    const authorization = `Authorization: Bearer ${await keyFrom(OTHER, "203.0.113.0/24")}`;
    expect(await requestFrom(running, OTHER, [authorization])).toBe(200);
    expect(await requestFrom(running, "127.0.0.4", [authorization])).toBe(401);
    expect(await requestFrom(running, PROXY, [authorization])).toBe(401);
    expect(await requestFrom(running, PROXY, [authorization, "X-Forwarded-For: 203.0.113.5"])).toBe(200);
    expect(await requestFrom(running, PROXY, [authorization, "X-Forwarded-For: 203.0.113.5, 198.51.100.1"])).toBe(401);
    expect(await requestFrom(running, "127.0.0.4", [authorization, "X-Forwarded-For: 203.0.113.5"])).toBe(401);
  });

  test("does not affect sessions, which show their source address", async () => {
    const cookie = await signIn(running, { "x-forwarded-for": "203.0.113.5", "user-agent": "curl/8.5.0" });
    const [session] = (await running.client({ cookie }).get("/api/auth/sessions")).data;
    expect(session).toMatchObject({ last_used_from: "127.0.0.1", user_agent: "curl/8.5.0", is_current: true });
  });

  test("loses only its streams from other sources when restricted", async () => {
    const key = await keyFrom();
    const owner = running.client({ cookie: await signIn(running) });
    const record = (await owner.get("auth/keys")).data.find(({ name }: { name: string }) => name === "from ");
    const streams = [openStream(running, OTHER, key), openStream(running, "127.0.0.4", key)] as const;
    const [nearStream, farStream] = await Promise.all(streams);
    const restricted = await owner.put(`auth/keys/${record.id}`, { ...record, allowed_sources: [`${OTHER}/32`] });
    expect(restricted.data.allowed_sources).toEqual([`${OTHER}/32`]);
    expect((await owner.post("tags", { name: "after", color: "Red" })).status).toBe(200);
    await withDeadline(farStream.ended, "the end of the stream", () => farStream.close());
    expect(farStream.text()).not.toContain('"after"');
    await withDeadline(nearStream.until('"after"'), "the change", () => nearStream.close());
    nearStream.close();
  });
});

async function signIn(running: Running, headers: Record<string, string> = {}): Promise<string> {
  const response = await running.client(headers).post("/api/auth/login", { email: OWNER, password: PASSWORD });
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

/** Change stream received at one of this machine's addresses. */
async function openStream(running: Running, from: string, key: string) {
  const { port } = new URL(running.url);
  const socket = connect({ host: "127.0.0.1", port: Number(port), localAddress: from });
  let text = "";
  let check = () => {};
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    check();
  });
  const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const until = (part: string) =>
    new Promise<void>((resolve) => {
      check = () => {
        if (text.includes(part)) resolve();
      };
      check();
    });
  socket.write(
    `GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  // The last of the existing changes: from here on the stream waits, and rechecks its permissions before it sends more.
  await withDeadline(until('"entity_type":"user"'), "the stream", () => socket.destroy());
  return { ended, until, text: () => text, close: () => socket.destroy() };
}

test("an appliance without a configured proxy trusts none, and shows peers of a dual-stack socket as IPv4", async () => {
  const sandbox = new Sandbox();
  try {
    const running = await sandbox.serve(["--log-format", "json", "--plain-http"], { listen: "[::]:0" });
    expect(await sourceOf(running, PROXY, ["X-Forwarded-For: 203.0.113.5"])).toBe(PROXY);
  } finally {
    await sandbox.close();
  }
});

test("a read-only appliance trusts its proxy as well", async () => {
  const sandbox = new Sandbox();
  try {
    await sandbox.setUp();
    const file = sandbox.path("copy.db");
    expect((await sandbox.command("backup", file)).code).toBe(0);
    const running = await sandbox.serve(["--read-only", file, "--log-format", "json"], {
      env: { NETLEDGER_TRUSTED_PROXY: PROXY },
    });
    expect(await sourceOf(running, PROXY, ["X-Forwarded-For: 203.0.113.5"])).toBe("203.0.113.5");
  } finally {
    await sandbox.close();
  }
});
