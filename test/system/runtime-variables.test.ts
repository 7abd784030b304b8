// Effects of Bun's environment variables on the executable, pinned to this Bun version so that an upgrade reveals
// changes; and the warning about an executable with file capabilities.

import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import { EXECUTABLE, Running, spawnPiped } from "../support/executable/executable.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";
import { makePair } from "../support/tls/certificates.ts";

// A file in memory may not keep capabilities.
const sandbox = sandboxForAll(tmpdir());
let preload: string;
beforeAll(() => {
  preload = sandbox.path("preload.ts");
  writeFileSync(preload, 'console.log("PRELOADED");');
});

test("these results apply to Bun 1.4.5, and must be reviewed for another version", () => {
  expect([manifest.devDependencies.bun, Bun.version]).toEqual(["1.4.5", "1.4.5"]);
});

describe("BUN_BE_BUN", () => {
  test.each(["1", "true"])(
    "turns the executable into Bun if set to %s, which runs arbitrary code and cannot be prevented",
    async (value) => {
      const result = await sandbox.run(["-e", "console.log(6 * 7)"], { env: { BUN_BE_BUN: value } });
      expect(result).toMatchObject({ code: 0, out: "42\n" });
    },
  );

  test.each(["", "0", "false"])("has no effect if set to %j", async (value) => {
    const result = await sandbox.run(["version"], { env: { BUN_BE_BUN: value } });
    expect(result).toMatchObject({ code: 0, err: "" });
  });
});

describe("a variable that alters execution is named and refused with status 2", () => {
  const refusalMessage = (name: string) =>
    `netledger: ${name} is set, and would change what this program runs: unset it; see netledger --help\n`;

  test.each([
    ["BUN_OPTIONS", "--smol"],
    ["BUN_INSPECT", "ws://127.0.0.1:0/debug"],
    ["BUN_INSPECT_CONNECT_TO", "unix:///nowhere/at/all"],
    ["BUN_INSPECT_NOTIFY", "unix:///nowhere/at/all"],
  ])("%s", async (name, value) => {
    const result = await sandbox.run(["--help"], { env: { [name]: value } });
    expect(result).toEqual({ code: 2, signal: null, out: "", err: refusalMessage(name) });
    expect((await sandbox.run(["version"], { env: { [name]: "" } })).code).toBe(0);
  });

  test("a preload, although Bun runs it before the program", async () => {
    for (const [name, value] of [
      ["BUN_OPTIONS", `--preload=${preload}`],
      ["BUN_INSPECT_PRELOAD", preload],
    ] as const) {
      const result = await sandbox.run(["--help"], { env: { [name]: value } });
      expect(result).toMatchObject({ code: 2, out: "PRELOADED\n", err: refusalMessage(name) });
    }
  });

  test("a debugger that Bun waits for, only after it has connected", async () => {
    const port = await freePort();
    const env = { BUN_INSPECT: `ws://127.0.0.1:${port}/debug?break=1` };
    const child = new Running(spawnPiped([EXECUTABLE, "version"], env, sandbox.directory));
    while (!(await canConnect(port)) && !child.hasEnded) await new Promise((resolve) => setImmediate(resolve));
    expect([child.hasEnded, child.lines]).toEqual([false, [""]]);
    child.kill("SIGKILL");
    await child.exited;
  });
});

test("NODE_OPTIONS has no effect", async () => {
  const result = await sandbox.run(["version"], {
    env: { NODE_OPTIONS: `--require ${preload} --import ${preload}` },
  });
  expect(result).toMatchObject({ code: 0, err: "" });
  expect(result.out).not.toContain("PRELOADED");
});

describe("an import", () => {
  const runImport = async (tls: { cert: string; key: string } | null, env: Record<string, string>) => {
    const requests: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      ...(tls === null ? {} : { tls }),
      fetch: (request) => {
        requests.push(request.headers.get("authorization") ?? "");
        return new Response("{}", { status: 404 });
      },
    });
    try {
      const secrets = {
        NETLEDGER_TOKEN: "canary-token",
        NETLEDGER_KEY: "canary-key",
        NETLEDGER_SERVER: server.url.origin,
      };
      const result = await sandbox.run(["import", "netbox", server.url.origin], { env: { ...secrets, ...env } });
      return { ...result, requests };
    } finally {
      await server.stop(true);
    }
  };

  test.each(["curl", "1", "true"])("prints neither token nor key for BUN_CONFIG_VERBOSE_FETCH=%s", async (value) => {
    const { out, err, requests } = await runImport(null, { BUN_CONFIG_VERBOSE_FETCH: value });
    expect(requests.join()).toContain("canary-token");
    expect(out + err).not.toMatch(/canary|authorization/i);
  });

  test("accepts no invalid certificate for NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const { certificate, privateKey } = await makePair(Date.now());
    const { code, err, requests } = await runImport(
      { cert: certificate, key: privateKey },
      { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    );
    expect([code, requests]).toEqual([1, []]);
    expect(err).toContain("is not trusted");
  });
});

/** Copies the executable with file capabilities; null if they cannot be set (only by root, on some file systems). */
function withCapabilities(mode: number): string | null {
  const path = sandbox.path(`netledger-${mode.toString(8)}`);
  copyFileSync(EXECUTABLE, path);
  chmodSync(path, mode);
  return Bun.which("setcap") !== null && Bun.spawnSync(["setcap", "cap_net_raw+ep", path]).success ? path : null;
}

describe("an executable with file capabilities", () => {
  const startCapable = async (mode: number) => {
    const path = withCapabilities(mode);
    if (path === null) return null;
    const running = await sandbox.serve([], { command: [path] });
    await running.waitForLog("started");
    // Detected after the start.
    const limitations = async () => (await running.client().get("/api/health")).data.limitations;
    for (let attempt = 0; attempt < 200 && (await limitations()).length === 0; attempt += 1) await Bun.sleep(0);
    const reported = await limitations();
    await running.stop();
    return { path, reported, log: running.log };
  };

  test("causes a warning at startup and in health if every user may execute it", async () => {
    const outcome = await startCapable(0o755);
    if (outcome === null) return;
    const [{ code, message }] = outcome.reported;
    expect(code).toBe("executable_gives_rights");
    expect(message).toStartWith(`${outcome.path} has file capabilities`);
    expect(outcome.log).toContain("WARN  machine_limits limitation=executable_gives_rights");
  });

  test("causes no warning if only its group may execute it", async () => {
    const outcome = await startCapable(0o750);
    if (outcome === null) return;
    expect(outcome.reported).toEqual([]);
    expect(outcome.log).not.toContain("machine_limits");
  });
});

async function freePort(): Promise<number> {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("close", () => socket.destroy());
  });
}
