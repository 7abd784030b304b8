// Inputs of the build and their fingerprints. Must not import the product: test files request fingerprints repeatedly,
// and loading the server takes fifty times as long.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const DIST = join(ROOT, "dist");

export const EXECUTABLE = join(DIST, "netledger");
/** Suffix of an executable's software bill of materials. */
export const SBOM = ".cdx.json";

/** Bundled, embedded or read by macros: every file below these folders counts, also one without an importer. */
const FOLDERS = ["src", "migrations"];

/** Data files read by the build. bun.lock represents the dependencies. */
const FILES = ["LICENSE", "package.json", "bun.lock", "tsconfig.json"];

/** Build output, absolute paths. */
interface Made {
  /** Holds the fingerprint of the inputs of the last build. */
  readonly stamp: string;
  readonly files: readonly string[];
}

export const EXECUTABLE_MADE: Made = {
  stamp: join(DIST, ".netledger-inputs"),
  files: [EXECUTABLE, `${EXECUTABLE}${SBOM}`],
};

/** Whether the output exists and was built from the inputs with this fingerprint. */
export function isMade({ stamp, files }: Made, fingerprint: string): boolean {
  return files.every((file) => existsSync(file)) && fingerprint === madeFrom({ stamp });
}

/** The fingerprint of the inputs of the last build; null before the first one. */
export function madeFrom({ stamp }: Pick<Made, "stamp">): string | null {
  return existsSync(stamp) ? readFileSync(stamp, "utf8").trim() : null;
}

/** @param fingerprint of the inputs, read before the build began */
export function setMade({ stamp }: Made, fingerprint: string): void {
  writeWhole(stamp, `${fingerprint}\n`);
}

/** Writes a file in one step: concurrent readers get the old or the new text. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}.new`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}

/**
 * SHA-256 of the inputs of a script, the platform and the version of Bun; hexadecimal.
 * @param root the checkout, absolute
 * @param script relative to the root
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
 * Inputs of a script: the script itself, the local modules that it imports, dynamic imports included, and the sources
 * of the product. Sorted paths relative to the root, without packages.
 */
export function inputsOf(root: string, script: string): string[] {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const outside = new Set([script, ...FILES.filter((file) => existsSync(join(root, file)))]);
  // The set grows during the loop.
  for (const file of outside) {
    if (!file.endsWith(".ts")) continue;
    for (const { path } of transpiler.scanImports(readFileSync(join(root, file)))) {
      if (!path.startsWith(".")) continue;
      const imported = relative(root, resolve(root, dirname(file), path));
      if (!FOLDERS.some((folder) => imported.startsWith(`${folder}/`))) outside.add(imported);
    }
  }
  return [...outside, ...FOLDERS.flatMap((folder) => filesBelow(root, folder))].sort();
}

/** Every file below a folder; paths relative to the root, sorted. */
export function filesBelow(root: string, folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute) || !statSync(absolute).isDirectory()) return [];
  return readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
