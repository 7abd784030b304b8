// Commits of this repository: the content of their files, and separate checkouts with installed dependencies.

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Sources } from "./patch.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Resolves a revision to the full hash of its commit. */
export function commitOf(name: string): string {
  return git(ROOT, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`]).trim();
}

/** Reads the TypeScript files below some directories of a commit. @returns their content by path */
export function sourcesAt(commit: string, folders: readonly string[]): Sources {
  const listed = git(ROOT, ["ls-tree", "-r", commit, "--", ...folders])
    .split("\n")
    .map((line) => /^\d+ blob (\w+)\t(.*\.tsx?)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, hash = "", path = ""]) => ({ hash, path }));
  const result = Bun.spawnSync(["git", "-C", ROOT, "cat-file", "--batch"], {
    stdin: new TextEncoder().encode(listed.map(({ hash }) => `${hash}\n`).join("")),
    stdout: "pipe",
    stderr: "inherit",
  });
  const bytes = result.stdout;
  const sources = new Map<string, string>();
  let offset = 0;
  for (const { path } of listed) {
    // Each object: a line of hash, type and size, the content, and a line feed.
    const headEnd = bytes.indexOf(10, offset);
    const size = Number(bytes.subarray(offset, headEnd).toString().split(" ")[2]);
    sources.set(path, bytes.subarray(headEnd + 1, headEnd + 1 + size).toString());
    offset = headEnd + 1 + size + 1;
  }
  return sources;
}

/** Makes the directory a clean checkout of the commit; reuses an existing one. */
export function checkOut(folder: string, commit: string): void {
  if (!existsSync(join(folder, ".git"))) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    git(ROOT, ["clone", "--quiet", "--shared", "--no-checkout", ROOT, folder]);
  }
  git(folder, ["checkout", "--quiet", "--force", "--detach", commit]);
  install(folder);
}

/** Hard-links the dependencies of this checkout if the commit has the same ones; otherwise installs them. */
function install(folder: string): void {
  const isSame = ["package.json", "bun.lock"].every((name) => read(ROOT, name) === read(folder, name));
  const modules = join(folder, "node_modules");
  if (isSame && !existsSync(modules)) {
    const cache = join(modules, ".cache");
    run(["cp", "--archive", "--link", join(ROOT, "node_modules"), modules], folder);
    // Copied: the cache is the only part that is written to.
    rmSync(cache, { recursive: true, force: true });
    run(["cp", "--archive", join(ROOT, "node_modules/.cache"), cache], folder);
  }
  run(["./scripts/bun", "--version"], folder);
}

function read(folder: string, name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function git(folder: string, args: readonly string[]): string {
  return run(["git", "-C", folder, ...args], ROOT);
}

function run(command: readonly string[], cwd: string): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd, stdout: "pipe", stderr: "pipe" });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString().trim() || "no such commit"}`);
  return stdout.toString();
}
