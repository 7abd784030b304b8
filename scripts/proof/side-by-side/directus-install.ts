// Directus from npm in a separate directory, with its two native modules. Run as a script, it installs Directus while
// the registry is reachable; the comparison itself runs offline. Not part of the product.

import { cpSync, existsSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** Installation directory, reused by later runs. */
const FOLDER = resolve(import.meta.dir, "../../../node_modules/.cache/netledger/directus");
const SCRIPT = "scripts/proof/side-by-side/directus-install.ts";
const RECIPE = join(import.meta.dir, "directus");
/** Modules to compile: their packages would download binaries from elsewhere. */
const COMPILED = [
  { name: "sqlite3", artifact: "build/Release/node_sqlite3.node" },
  { name: "isolated-vm", artifact: "out/isolated_vm.node" },
] as const;
/** Timeout of an installation, which takes two minutes on two free cores. Compiled parts are reused next time. */
const INSTALL_DEADLINE_MS = 5 * 60_000;

export interface InstalledDirectus {
  /** Node.js of the version that Directus requires, from npm as well. */
  readonly node: string;
  /** Command line of Directus, without the update check of the package `directus`. */
  readonly cli: string;
  readonly version: string;
  /** Installation directory, and cache of generated files. */
  readonly folder: string;
}

/** Finds the installed Directus. @throws Error if it is missing or incomplete */
export async function installedDirectus(): Promise<InstalledDirectus> {
  const packages = join(FOLDER, "node_modules");
  const node = join(packages, `node-linux-${process.arch}`, "bin/node");
  const manifest = join(packages, "directus/package.json");
  const missing = [node, manifest, ...COMPILED.map(({ name, artifact }) => join(packages, name, artifact))].filter(
    (path) => !existsSync(path),
  );
  if (missing.length > 0)
    throw new Error(`not installed (${missing.map((path) => basename(path)).join(", ")} missing); run ${SCRIPT}`);
  const { version } = (await Bun.file(manifest).json()) as { version: string };
  return { node, cli: join(packages, "@directus/api/dist/cli/run.js"), version, folder: FOLDER };
}

/** Installs Directus. @throws Error with the reason if that is impossible on this machine */
async function installDirectus(log: (line: string) => void): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of ["package.json", "bun.lock"]) cpSync(join(RECIPE, name), join(FOLDER, name));
  const packages = join(FOLDER, "node_modules");
  const started = performance.now();
  // Install scripts are disabled: those that are needed run below, and those that download are unwanted.
  await run(
    [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"],
    FOLDER,
    "the packages could not be installed",
  );
  const runtime = join(packages, `node-linux-${process.arch}`);
  const node = join(runtime, "bin/node");
  if (!existsSync(node)) throw new Error(`npm has no Node.js 22 for ${process.platform} ${process.arch}`);
  const missing = COMPILED.filter(({ name, artifact }) => !existsSync(join(packages, name, artifact)));
  if (missing.length > 0)
    log(`compiling ${missing.map(({ name }) => name).join(" and ")} for Directus, once: about two minutes`);
  const gyp = join(packages, "node-gyp/bin/node-gyp.js");
  const compilations = await Promise.allSettled(
    missing.map(async ({ name }) => {
      // Two steps instead of "rebuild", which would discard the results of an earlier run.
      for (const step of ["configure", "build"])
        await run(
          [node, gyp, step, "--release", `--nodedir=${runtime}`],
          join(packages, name),
          `${name} could not be compiled (it needs a C++ compiler, make and Python)`,
        );
    }),
  );
  for (const outcome of compilations) if (outcome.status === "rejected") throw outcome.reason;
  for (const { name, artifact } of COMPILED)
    if (!existsSync(join(packages, name, artifact)))
      throw new Error(`${name} was compiled, but its output was not found`);
  log(`Directus is installed, ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

async function run(command: string[], cwd: string, problem: string): Promise<void> {
  // Run in a separate process group: the compiler's processes must not outlive the installation.
  const child = Bun.spawn(command, { cwd, detached: true, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  let isLate = false;
  const timeout = setTimeout(() => {
    isLate = true;
    process.kill(-child.pid, "SIGKILL");
  }, INSTALL_DEADLINE_MS);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(timeout);
  if (isLate) throw new Error(`${problem}: not within ${INSTALL_DEADLINE_MS / 60_000} minutes`);
  if (code !== 0) throw new Error(`${problem}: ${`${out}\n${err}`.trim().split("\n").slice(-3).join(" ").slice(-300)}`);
}

if (import.meta.main) {
  try {
    await installDirectus((line) => console.log(line));
  } catch (error) {
    // The comparison then reports Directus as skipped.
    console.log(`Directus: ${error instanceof Error ? error.message : error}`);
  }
}
