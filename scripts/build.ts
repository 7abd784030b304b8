// Executable build: dist/netledger for this machine, or dist/netledger-<platform> for named platforms, each with its
// software bill of materials, <name>.cdx.json. Does not minify: Elysia reads the source text of its hooks and responds
// with 500 if their names are missing.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import {
  EXECUTABLE,
  EXECUTABLE_OUTPUT,
  filesBelow,
  fingerprintOf,
  isUpToDate,
  markBuilt,
  SBOM,
} from "./build-inputs.ts";
import type { BundleInputs } from "./sbom.ts";

const root = resolve(import.meta.dir, "..");
const dist = join(root, "dist");

/** Bun finds a Worker inside an executable only when its file was an entry of the build. */
const ENTRIES = ["src/main.ts", ...filesBelow(root, "src/server/workers")];

interface Platform {
  package: string;
  cpu: string;
}

/** Released platforms; the keys are the file names in dist and the values of `--target`. */
const PLATFORMS: Record<string, Platform> = {
  "linux-x64": { package: "@oven/bun-linux-x64", cpu: "x64" },
  "linux-arm64": { package: "@oven/bun-linux-aarch64", cpu: "arm64" },
};

const USAGE = `usage: scripts/build.ts [--target ${[...Object.keys(PLATFORMS), "all"].join("|")}] [--if-changed]`;

try {
  await main();
} catch (error) {
  console.error(`netledger: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const { target, ifChanged } = readArguments();
  if (Bun.version !== manifest.devDependencies.bun) {
    throw new Error(
      `the build requires Bun ${manifest.devDependencies.bun}, not ${Bun.version}: use ./scripts/bun scripts/build.ts`,
    );
  }
  if (target === undefined) {
    await buildHost(ifChanged);
    return;
  }
  const names = target === "all" ? Object.keys(PLATFORMS) : [target];
  for (const name of names) {
    const platform = PLATFORMS[name];
    if (platform === undefined) throw new Error(`unknown target ${name}. ${USAGE}`);
    await compile(join(dist, `netledger-${name}`), await runtimeOf(platform), platform);
  }
}

function readArguments(): { target: string | undefined; ifChanged: boolean } {
  try {
    const { values } = parseArgs({
      options: { target: { type: "string" }, "if-changed": { type: "boolean", default: false } },
    });
    return { target: values.target, ifChanged: values["if-changed"] };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}. ${USAGE}`);
  }
}

async function buildHost(ifChanged: boolean): Promise<void> {
  // Computed before the build: a file saved during the build must change the fingerprint.
  const fingerprint = fingerprintOf(root, "scripts/build.ts");
  if (ifChanged && isUpToDate(EXECUTABLE_OUTPUT, fingerprint)) return;
  await compile(EXECUTABLE, process.execPath, hostPlatform());
  markBuilt(EXECUTABLE_OUTPUT, fingerprint);
}

/** Platform of this machine. */
function hostPlatform(): Platform {
  return (
    Object.values(PLATFORMS).find(({ cpu }) => cpu === process.arch) ?? {
      package: `@oven/bun-${process.platform}-${process.arch}`,
      cpu: process.arch,
    }
  );
}

/**
 * Compiles into a separate directory and renames the result: a running executable is not overwritten, and a partial one
 * is never visible.
 */
async function compile(outfile: string, runtime: string, platform: Platform): Promise<void> {
  // These modules load the server: they are imported only if there is something to build.
  const [{ BILL_OF_MATERIALS_FILE, packBillOfMaterials }, { buildConsole, CONSOLE_PACK }, { sbomOf }] =
    await Promise.all([import("./bill-of-materials.ts"), import("./console.ts"), import("./sbom.ts")]);
  mkdirSync(dist, { recursive: true });
  const folder = mkdtempSync(join(dist, ".build-"));
  try {
    const built = join(folder, "netledger");
    const { metafile: consoleBundle } = await buildConsole();
    const options = { root, runtimePackage: platform.package, runtimeVersions: process.versions };
    const consolePart = { part: "console", bundle: consoleBundle } as const;
    const billOfMaterials = packBillOfMaterials(options, [
      { part: "server", bundle: await bundledInputs() },
      consolePart,
    ]);
    const result = await Bun.build({
      entrypoints: [...ENTRIES.map((entry) => join(root, entry)), CONSOLE_PACK, BILL_OF_MATERIALS_FILE],
      // Found among the embedded files at run time.
      loader: { ".pack": "file", ".bill": "file" },
      root: join(root, "src"),
      target: "bun",
      format: "esm",
      // Halves the time to the first response: nothing is parsed at the start, on any thread. The source is included
      // for Elysia and stack traces.
      bytecode: true,
      minify: false,
      // Embedded, so that the stack trace in a log names the source file and its line.
      sourcemap: "linked",
      metafile: true,
      define: { "process.env.NODE_ENV": JSON.stringify("production") },
      compile: {
        outfile: built,
        executablePath: runtime,
        // Otherwise an executable obeys the .env and bunfig.toml of its working directory.
        autoloadDotenv: false,
        autoloadBunfig: false,
        // Bun's default limit is about 16 kB for request line and headers: too little for lists of ids.
        execArgv: ["--max-http-header-size=131072"],
      },
      throw: false,
    });
    if (!result.success) throw new Error(`the build failed.\n${result.logs.map((log) => Bun.inspect(log)).join("\n")}`);
    if (result.metafile === undefined) throw new Error("the bundler returned no metafile.");
    const sbom = sbomOf({ ...options, bundles: [result.metafile, consoleBundle] });
    if (sbom !== billOfMaterials.bom) throw new Error("the embedded bill of materials does not match the executable.");
    const sbomFile = join(folder, SBOM);
    writeFileSync(sbomFile, sbom);
    renameSync(sbomFile, `${outfile}${SBOM}`);
    chmodSync(built, 0o755);
    renameSync(built, outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bundles once to find the inputs: the bill of materials that the executable embeds lists them. */
async function bundledInputs(): Promise<BundleInputs> {
  const { success, logs, metafile } = await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(root, entry)),
    root: join(root, "src"),
    target: "bun",
    format: "esm",
    minify: false,
    metafile: true,
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    throw: false,
  });
  if (!success || metafile === undefined)
    throw new Error(`the build failed.\n${logs.map((log) => Bun.inspect(log)).join("\n")}`);
  return metafile;
}

/**
 * Finds the Bun runtime for a platform: the running one, or the one in the platform's npm package, verified against
 * bun.lock. Downloaded here because Bun's own download for cross-compilation contacts a fixed host, regardless of the
 * configured registry.
 */
async function runtimeOf(platform: Platform): Promise<string> {
  if (process.platform === "linux" && process.arch === platform.cpu) return process.execPath;
  const folder = join(root, "node_modules/.cache/netledger", platform.package.replace("/", "-"));
  const runtime = join(folder, "node_modules", platform.package, "bin/bun");
  const integrity = integrityOf(readFileSync(join(root, "bun.lock"), "utf8"), platform.package);
  const lock = join(folder, "bun.lock");
  const isVerified = () => integrityOf(readFileSync(lock, "utf8"), platform.package) === integrity;
  if (existsSync(runtime) && existsSync(lock) && isVerified()) return runtime;

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: { [platform.package]: manifest.devDependencies.bun } }),
  );
  for (const config of [".npmrc", "bunfig.toml"]) {
    if (existsSync(join(root, config))) copyFileSync(join(root, config), join(folder, config));
  }
  const platformOptions = ["--os=linux", `--cpu=${platform.cpu}`, "--libc=glibc"];
  const install = Bun.spawnSync(
    [process.execPath, "install", "--ignore-scripts", "--save-text-lockfile", ...platformOptions],
    { cwd: folder, env: { ...process.env, ...npmRegistry() }, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  if (install.exitCode !== 0)
    throw new Error(`${platform.package} could not be downloaded: ${install.stderr.toString().trim()}`);
  if (!isVerified()) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`the registry's ${platform.package} does not match bun.lock.`);
  }
  return runtime;
}

/** Checksum of a package in bun.lock. */
function integrityOf(lock: string, name: string): string {
  const line = lock.split("\n").find((text) => text.trimStart().startsWith(`"${name}": [`));
  const integrity = line?.match(/"(sha512-[^"]+)"/)?.[1];
  if (integrity === undefined) throw new Error(`bun.lock does not list ${name}.`);
  return integrity;
}

/** Environment that passes the registry of npm's own configuration to Bun. */
function npmRegistry(): { NPM_CONFIG_REGISTRY?: string } {
  if (process.env.BUN_CONFIG_REGISTRY !== undefined || Bun.which("npm") === null) return {};
  const npmConfig = Bun.spawnSync(["npm", "config", "get", "registry"], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const registry = npmConfig.stdout.toString().trim();
  return npmConfig.exitCode === 0 && registry.startsWith("http") ? { NPM_CONFIG_REGISTRY: registry } : {};
}
