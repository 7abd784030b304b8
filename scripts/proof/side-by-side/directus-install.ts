// Directus from npm in a separate folder, with its two compiled modules. As a script it installs Directus while the
// registry is reachable; the comparison itself is offline. Not part of the product.

import { cpSync, existsSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** Kept between runs. */
const FOLDER = resolve(import.meta.dir, "../../../node_modules/.cache/netledger/directus");
const SCRIPT = "scripts/proof/side-by-side/directus-install.ts";
const RECIPE = join(import.meta.dir, "directus");
/** Compiled modules: their packages would download binaries from elsewhere. */
const COMPILED = [
  { name: "sqlite3", made: "build/Release/node_sqlite3.node" },
  { name: "isolated-vm", made: "out/isolated_vm.node" },
] as const;
/** Two free cores take two minutes. Compiled parts are reused next time. */
const INSTALL_DEADLINE_MS = 5 * 60_000;

export interface InstalledDirectus {
  /** Node of the version that Directus requires, also from npm. */
  readonly node: string;
  /** Its command line, without the update check of the package `directus`. */
  readonly cli: string;
  readonly version: string;
  /** Installation folder, and cache of generated files. */
  readonly folder: string;
}

/** @throws Error if not installed, or only in part */
export async function installedDirectus(): Promise<InstalledDirectus> {
  const packages = join(FOLDER, "node_modules");
  const node = join(packages, `node-linux-${process.arch}`, "bin/node");
  const manifest = join(packages, "directus/package.json");
  const missing = [node, manifest, ...COMPILED.map(({ name, made }) => join(packages, name, made))].filter(
    (path) => !existsSync(path),
  );
  if (missing.length > 0)
    throw new Error(`not installed (${missing.map((path) => basename(path)).join(", ")} missing); run ${SCRIPT}`);
  const { version } = (await Bun.file(manifest).json()) as { version: string };
  return { node, cli: join(packages, "@directus/api/dist/cli/run.js"), version, folder: FOLDER };
}

/** @throws Error with the reason if impossible on this machine */
async function installDirectus(say: (line: string) => void): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of ["package.json", "bun.lock"]) cpSync(join(RECIPE, name), join(FOLDER, name));
  const packages = join(FOLDER, "node_modules");
  const began = performance.now();
  // Install scripts are disabled: the needed ones run below, the downloading ones are unwanted.
  await run(
    [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"],
    FOLDER,
    "its packages could not be installed",
  );
  const runtime = join(packages, `node-linux-${process.arch}`);
  const node = join(runtime, "bin/node");
  if (!existsSync(node)) throw new Error(`npm has no Node.js 22 for ${process.platform} ${process.arch}`);
  const missing = COMPILED.filter(({ name, made }) => !existsSync(join(packages, name, made)));
  if (missing.length > 0)
    say(`compiling ${missing.map(({ name }) => name).join(" and ")} for Directus, once: about two minutes`);
  const gyp = join(packages, "node-gyp/bin/node-gyp.js");
  const compilations = await Promise.allSettled(
    missing.map(async ({ name }) => {
      // Not "rebuild", which would discard the results of an earlier run.
      for (const step of ["configure", "build"])
        await run(
          [node, gyp, step, "--release", `--nodedir=${runtime}`],
          join(packages, name),
          `${name} could not be compiled (it needs a C++ compiler, make and Python)`,
        );
    }),
  );
  for (const outcome of compilations) if (outcome.status === "rejected") throw outcome.reason;
  for (const { name, made } of COMPILED)
    if (!existsSync(join(packages, name, made)))
      throw new Error(`${name} was compiled, but not to where it is looked for`);
  say(`Directus is installed, ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

async function run(command: string[], cwd: string, problem: string): Promise<void> {
  // In a separate process group: the compiler's processes must not outlive the installation.
  const child = Bun.spawn(command, { cwd, detached: true, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    process.kill(-child.pid, "SIGKILL");
  }, INSTALL_DEADLINE_MS);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(late);
  if (isLate) throw new Error(`${problem}: not within ${INSTALL_DEADLINE_MS / 60_000} minutes`);
  if (code !== 0) throw new Error(`${problem}: ${`${out}\n${err}`.trim().split("\n").slice(-3).join(" ").slice(-300)}`);
}

if (import.meta.main) {
  try {
    await installDirectus((line) => console.log(line));
  } catch (error) {
    // The comparison then reports it as omitted.
    console.log(`Directus: ${error instanceof Error ? error.message : error}`);
  }
}
