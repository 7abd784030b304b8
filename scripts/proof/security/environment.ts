// Environment variables of a command that try to run other code or to print secrets.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Finished, finished, spawnPiped } from "../../../test/support/executable/executable.ts";
import type { Finding, Proving } from "../part.ts";

const CANARY = "canary-of-the-environment";
const REFUSED = ["BUN_OPTIONS", "BUN_INSPECT", "BUN_INSPECT_CONNECT_TO", "BUN_INSPECT_NOTIFY", "BUN_INSPECT_PRELOAD"];

export async function proveEnvironment(proving: Proving): Promise<Finding[]> {
  const folder = join(proving.directory, "environment");
  mkdirSync(folder);
  const run = (args: readonly string[], env: Record<string, string>) => {
    const child = spawnPiped([proving.executable, ...args], env, folder);
    child.stdin.end();
    return finished(child, `netledger ${args[0]}`);
  };
  return [await otherCode(folder, run), await printedSecrets(run)];
}

type Run = (args: readonly string[], env: Record<string, string>) => Promise<Finished>;

async function otherCode(folder: string, run: Run): Promise<Finding> {
  const file = join(folder, "other.ts");
  writeFileSync(file, "");
  const went: string[] = [];
  for (const name of REFUSED) {
    const value =
      name === "BUN_OPTIONS" ? `--preload=${file}` : name === "BUN_INSPECT_PRELOAD" ? file : "ws://127.0.0.1:0/x";
    const { code, out, err } = await run(["version"], { [name]: value });
    if (code !== 2 || out !== "" || !err.includes(name)) went.push(`${name}: ${code} ${err}`);
  }
  return {
    claim: "a variable that makes Bun run other code, or attaches a debugger, is named and refused",
    held: went.length === 0,
    figure: went[0] ?? `${REFUSED.length} variables`,
  };
}

async function printedSecrets(run: Run): Promise<Finding> {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      if (request.headers.get("authorization")?.includes(CANARY)) asked += 1;
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
      held: asked >= 3 && !printed.includes(CANARY),
      figure: `${asked} requests with them${printed.includes(CANARY) ? ", and they were printed" : ""}`,
    };
  } finally {
    await server.stop(true);
  }
}
