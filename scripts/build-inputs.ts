// Build inputs and their fingerprints. Independent of the product: test files request fingerprints repeatedly, and
// loading the server takes fifty times as long.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const DIST = join(ROOT, "dist");

export const EXECUTABLE = join(DIST, "netledger");
/** Suffix of an executable's software bill of materials. */
export const SBOM = ".cdx.json";

/** Directories whose files are bundled, embedded or read by macros; every file counts, even if nothing imports it. */
const FOLDERS = ["src", "migrations"];

/** Data files read by the build. bun.lock represents the dependencies. */
const FILES = ["LICENSE", "package.json", "bun.lock", "tsconfig.json"];

/** Output of a build, as absolute paths. */
interface BuildOutput {
  /** File with the fingerprint of the last build's inputs. */
  readonly stamp: string;
  readonly files: readonly string[];
}

export const EXECUTABLE_OUTPUT: BuildOutput = {
  stamp: join(DIST, ".netledger-inputs"),
  files: [EXECUTABLE, `${EXECUTABLE}${SBOM}`],
};

/** Whether the output exists and was built from the inputs with this fingerprint. */
export function isUpToDate({ stamp, files }: BuildOutput, fingerprint: string): boolean {
  return files.every((file) => existsSync(file)) && fingerprint === lastFingerprint({ stamp });
}

/** Fingerprint of the last build's inputs; null before the first build. */
export function lastFingerprint({ stamp }: Pick<BuildOutput, "stamp">): string | null {
  return existsSync(stamp) ? readFileSync(stamp, "utf8").trim() : null;
}

/** Records a build. @param fingerprint fingerprint of its inputs, computed before it started */
export function markBuilt({ stamp }: BuildOutput, fingerprint: string): void {
  writeAtomically(stamp, `${fingerprint}\n`);
}

/** Writes a file atomically: concurrent readers get the old or the new content. */
export function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/**
 * SHA-256, in hexadecimal, of a script's inputs, the platform and the version of Bun.
 * @param root absolute path of the checkout
 * @param script path relative to the root
 */
export function fingerprintOf(root: string, script: string): string {
  const hash = createHash("sha256").update(`${Bun.version} ${process.platform} ${process.arch}\n`);
  for (const file of inputsOf(root, script))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

/**
 * Inputs of a script, without packages: the script itself, its local modules, imported statically or dynamically, and
 * the sources of the product. @returns sorted paths relative to the root
 */
export function inputsOf(root: string, script: string): string[] {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const inputs = new Set([script, ...FILES.filter((file) => existsSync(join(root, file)))]);
  // The set grows during the loop.
  for (const file of inputs) {
    if (!file.endsWith(".ts")) continue;
    for (const { path } of transpiler.scanImports(readFileSync(join(root, file)))) {
      if (!path.startsWith(".")) continue;
      const imported = relative(root, resolve(root, dirname(file), path));
      if (!FOLDERS.some((folder) => imported.startsWith(`${folder}/`))) inputs.add(imported);
    }
  }
  return [...inputs, ...FOLDERS.flatMap((folder) => filesBelow(root, folder))].sort();
}

/** All files below a directory, as sorted paths relative to the root. */
export function filesBelow(root: string, folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute) || !statSync(absolute).isDirectory()) return [];
  return readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
