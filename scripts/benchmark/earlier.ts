// Earlier commit for comparisons: its files, its executable, and stores built by its own code.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BuiltStore, Population } from "./store.ts";

export const ROOT = resolve(import.meta.dir, "../..");

/** Checks out a commit with its dependencies into a separate directory and builds it. @returns the directory */
export function checkOut(commit: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(["sh", "-c", `git -C '${ROOT}' archive '${commit.replaceAll("'", "")}' | tar -x -C '${folder}'`], ROOT);
  const isSame = (file: string) => readFileSync(join(folder, file), "utf8") === readFileSync(join(ROOT, file), "utf8");
  // With another lockfile, the build installs the dependencies.
  if (isSame("bun.lock") && existsSync(join(ROOT, "node_modules")))
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  run(["./scripts/bun", "scripts/build.ts"], folder);
  return folder;
}

/** Builds a store with the code of a checkout, or reuses a finished one. */
export function buildStoreFrom(checkout: string, folder: string, populations: readonly Population[]): BuiltStore {
  const code = `import { buildStore } from "./scripts/benchmark/store.ts";
    const built = await buildStore(${JSON.stringify(folder)}, ${JSON.stringify(populations)}, () => {});
    await Bun.write(${JSON.stringify(`${folder}.json`)}, JSON.stringify(built));
    process.exit(0);`;
  run(["./scripts/bun", "-e", code], checkout);
  return JSON.parse(readFileSync(`${folder}.json`, "utf8")) as BuiltStore;
}

/** Runs a command. @returns its standard output @throws Error with its standard error */
export function run(command: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}
