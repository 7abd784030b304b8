// Effects of Bun's environment variables on the executable, as of this Bun version, so that another one shows its
// changes; and the executable's message when it grants privileges to its callers.

import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import { EXECUTABLE, Running, spawnPiped } from "../support/executable/executable.ts";
import { workplaceForAll } from "../support/executable/workplaces.ts";
import { makePair } from "../support/tls/certificates.ts";

// A file in memory may not keep capabilities.
const place = workplaceForAll(tmpdir());
let preload: string;
beforeAll(() => {
  preload = place.path("preload.ts");
  writeFileSync(preload, 'console.log("PRELOADED");');
});

test("these facts are of Bun 1.4.5, and to be reviewed for another version", () => {
  expect([manifest.devDependencies.bun, Bun.version]).toEqual(["1.4.5", "1.4.5"]);
});

describe("BUN_BE_BUN", () => {
  test.each(["1", "true"])(
    "%s turns the executable into Bun, which runs any code and cannot be prevented",
    async (value) => {
      const end = await place.run(["-e", "console.log(6 * 7)"], { env: { BUN_BE_BUN: value } });
      expect(end).toMatchObject({ code: 0, out: "42\n" });
    },
  );

  test.each(["", "0", "false"])("%j has no effect", async (value) => {
    const end = await place.run(["version"], { env: { BUN_BE_BUN: value } });
    expect(end).toMatchObject({ code: 0, err: "" });
  });
});

describe("a variable that alters execution is named and refused, with status 2:", () => {
  const refused = (name: string) =>
    `netledger: ${name} is set, and would change what this program runs: unset it; see netledger --help\n`;

  test.each([
    ["BUN_OPTIONS", "--smol"],
    ["BUN_INSPECT", "ws://127.0.0.1:0/debug"],
    ["BUN_INSPECT_CONNECT_TO", "unix:///nowhere/at/all"],
    ["BUN_INSPECT_NOTIFY", "unix:///nowhere/at/all"],
  ])("%s", async (name, value) => {
    const end = await place.run(["--help"], { env: { [name]: value } });
    expect(end).toEqual({ code: 2, signal: null, out: "", err: refused(name) });
    expect((await place.run(["version"], { env: { [name]: "" } })).code).toBe(0);
  });

  test("a preload, after it has run: Bun loads it before the program", async () => {
    for (const [name, value] of [
      ["BUN_OPTIONS", `--preload=${preload}`],
      ["BUN_INSPECT_PRELOAD", preload],
    ] as const) {
      const end = await place.run(["--help"], { env: { [name]: value } });
      expect(end).toMatchObject({ code: 2, out: "PRELOADED\n", err: refused(name) });
    }
  });

  test("a debugger to be waited for, after it has connected: Bun waits before the program", async () => {
    const port = await freePort();
    const env = { BUN_INSPECT: `ws://127.0.0.1:${port}/debug?break=1` };
    const waiting = new Running(spawnPiped([EXECUTABLE, "version"], env, place.directory));
    while (!(await answers(port)) && !waiting.hasEnded) await new Promise((resolve) => setImmediate(resolve));
    expect([waiting.hasEnded, waiting.lines]).toEqual([false, [""]]);
    waiting.kill("SIGKILL");
    await waiting.exited;
  });
});

test("NODE_OPTIONS has no effect", async () => {
  const end = await place.run(["version"], { env: { NODE_OPTIONS: `--require ${preload} --import ${preload}` } });
  expect(end).toMatchObject({ code: 0, err: "" });
  expect(end.out).not.toContain("PRELOADED");
});

describe("an import", () => {
  const asked = async (tls: { cert: string; key: string } | null, env: Record<string, string>) => {
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
      const end = await place.run(["import", "netbox", server.url.origin], { env: { ...secrets, ...env } });
      return { ...end, requests };
    } finally {
      await server.stop(true);
    }
  };

  test.each(["curl", "1", "true"])("prints neither token nor key for BUN_CONFIG_VERBOSE_FETCH=%s", async (value) => {
    const { out, err, requests } = await asked(null, { BUN_CONFIG_VERBOSE_FETCH: value });
    expect(requests.join()).toContain("canary-token");
    expect(out + err).not.toMatch(/canary|authorization/i);
  });

  test("accepts no invalid certificate for NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const { certificate, privateKey } = await makePair(Date.now());
    const { code, err, requests } = await asked(
      { cert: certificate, key: privateKey },
      { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    );
    expect([code, requests]).toEqual([1, []]);
    expect(err).toContain("is not trusted");
  });
});

/** Only root can set file capabilities, and not every file system stores them. */
function capable(mode: number): string | null {
  const path = place.path(`netledger-${mode.toString(8)}`);
  copyFileSync(EXECUTABLE, path);
  chmodSync(path, mode);
  return Bun.which("setcap") !== null && Bun.spawnSync(["setcap", "cap_net_raw+ep", path]).success ? path : null;
}

describe("an executable with file capabilities", () => {
  const served = async (mode: number) => {
    const path = capable(mode);
    if (path === null) return null;
    const running = await place.serve([], { command: [path] });
    await running.logged("started");
    // Detected after the start.
    const limitations = async () => (await running.client().get("/api/health")).data.limitations;
    for (let turn = 0; turn < 200 && (await limitations()).length === 0; turn += 1) await Bun.sleep(0);
    const found = await limitations();
    await running.stop();
    return { path, found, log: running.log };
  };

  test("executable by every user warns at its start and in health", async () => {
    const told = await served(0o755);
    if (told === null) return;
    const [{ code, message }] = told.found;
    expect(code).toBe("executable_gives_rights");
    expect(message).toStartWith(`${told.path} has file capabilities`);
    expect(told.log).toContain("WARN  machine_limits limitation=executable_gives_rights");
  });

  test("executable by its group only gives no warning", async () => {
    const told = await served(0o750);
    if (told === null) return;
    expect(told.found).toEqual([]);
    expect(told.log).not.toContain("machine_limits");
  });
});

async function freePort(): Promise<number> {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("close", () => socket.destroy());
  });
}
