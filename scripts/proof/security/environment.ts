// Attacks by environment variables, which must not run other code or print secrets.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandResult, spawnPiped, waitForExit } from "../../../test/support/executable/executable.ts";
import type { Finding, ProofContext } from "../part.ts";

const CANARY = "canary-of-the-environment";
const REFUSED = ["BUN_OPTIONS", "BUN_INSPECT", "BUN_INSPECT_CONNECT_TO", "BUN_INSPECT_NOTIFY", "BUN_INSPECT_PRELOAD"];

export async function proveEnvironment(context: ProofContext): Promise<Finding[]> {
  const folder = join(context.directory, "environment");
  mkdirSync(folder);
  const run = (args: readonly string[], env: Record<string, string>) => {
    const child = spawnPiped([context.executable, ...args], env, folder);
    child.stdin.end();
    return waitForExit(child, `netledger ${args[0]}`);
  };
  return [await proveNoInjection(folder, run), await proveNoLeak(run)];
}

type Run = (args: readonly string[], env: Record<string, string>) => Promise<CommandResult>;

async function proveNoInjection(folder: string, run: Run): Promise<Finding> {
  const file = join(folder, "other.ts");
  writeFileSync(file, "");
  const violations: string[] = [];
  for (const name of REFUSED) {
    const value =
      name === "BUN_OPTIONS" ? `--preload=${file}` : name === "BUN_INSPECT_PRELOAD" ? file : "ws://127.0.0.1:0/x";
    const { code, out, err } = await run(["version"], { [name]: value });
    if (code !== 2 || out !== "" || !err.includes(name)) violations.push(`${name}: ${code} ${err}`);
  }
  return {
    claim: "a variable that makes Bun run other code, or attaches a debugger, is named and refused",
    held: violations.length === 0,
    figure: violations[0] ?? `${REFUSED.length} variables`,
  };
}

async function proveNoLeak(run: Run): Promise<Finding> {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      if (request.headers.get("authorization")?.includes(CANARY)) requests += 1;
      return new Response("{}", { status: 404 });
    },
  });
  try {
    const { origin } = server.url;
    const secrets = { NETLEDGER_TOKEN: CANARY, NETLEDGER_KEY: CANARY, NETLEDGER_SERVER: origin };
    let printed = "";
    for (const value of ["1", "true", "curl"]) {
      const { out, err } = await run(["import", "netbox", origin], { ...secrets, BUN_CONFIG_VERBOSE_FETCH: value });
      printed += out + err;
    }
    return {
      claim: "no variable makes an import print its token or its key",
      held: requests >= 3 && !printed.includes(CANARY),
      figure: `${requests} requests with secrets${printed.includes(CANARY) ? ", and the secrets were printed" : ""}`,
    };
  } finally {
    await server.stop(true);
  }
}
