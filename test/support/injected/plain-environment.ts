// Uniform environment for test processes and their children: no proxy, no colors, UTC, one locale, the usual umask,
// memory and compilers, and no optional scan programs. Preload of every test (bunfig.toml).

import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** Programs that sweeps use if the process may not send echo requests itself. */
const HIDDEN = ["fping", "ping"];
const UNSET = /^((https?|all|no)_proxy|no_color|force_color|lc_\w+|language|mimalloc_\w+|bun_jsc_\w+)$/i;

for (const name of Object.keys(process.env)) if (UNSET.test(name)) delete process.env[name];
Object.assign(process.env, { TZ: "UTC", LANG: "C.UTF-8" });
process.umask(0o022);
if (HIDDEN.some((name) => Bun.which(name) !== null)) process.env.PATH = pathWithoutHidden();

// Bun passes a child the initial environment, unless one is given.
const { spawn, spawnSync } = Bun;
Bun.spawn = withEnvironment(spawn);
Bun.spawnSync = withEnvironment(spawnSync);

function withEnvironment<Spawn>(start: Spawn): Spawn {
  const wrapped = (command: object, options?: object) => {
    const call = start as (...args: object[]) => unknown;
    return Array.isArray(command)
      ? call(command, { env: process.env, ...options })
      : call({ env: process.env, ...command });
  };
  return wrapped as Spawn;
}

/** Directory of links to all programs except the hidden ones; removed at exit. */
function pathWithoutHidden(): string {
  const folder = mkdtempSync(join(tmpdir(), "netledger-path-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const linked = new Set(HIDDEN);
  for (const directory of (process.env.PATH ?? "").split(delimiter).filter((path) => path !== ""))
    for (const name of namesIn(directory)) {
      if (!linked.has(name)) symlinkSync(resolve(directory, name), join(folder, name));
      linked.add(name);
    }
  return folder;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A PATH may name missing directories.
    return [];
  }
}
