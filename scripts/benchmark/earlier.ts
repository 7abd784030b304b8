// An earlier commit to compare with: its files, its executable, and stores that its own code builds.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BuiltStore, Population } from "./store.ts";

export const ROOT = resolve(import.meta.dir, "../..");

/** The files of a commit in a folder of their own, with what they need, built. @returns the folder */
export function checkOut(commit: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(["sh", "-c", `git -C '${ROOT}' archive '${commit.replaceAll("'", "")}' | tar -x -C '${folder}'`], ROOT);
  const isSame = (file: string) => readFileSync(join(folder, file), "utf8") === readFileSync(join(ROOT, file), "utf8");
  // With other dependencies it installs its own.
  if (isSame("bun.lock") && existsSync(join(ROOT, "node_modules")))
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  run(["./scripts/bun", "scripts/build.ts"], folder);
  return folder;
}

/** Builds a store, or takes the finished one that is there, by the code of a checkout. */
export function buildStoreBy(checkout: string, folder: string, populations: readonly Population[]): BuiltStore {
  const code = `import { buildStore } from "./scripts/benchmark/store.ts";
    const built = await buildStore(${JSON.stringify(folder)}, ${JSON.stringify(populations)}, () => {});
    await Bun.write(${JSON.stringify(`${folder}.json`)}, JSON.stringify(built));
    process.exit(0);`;
  run(["./scripts/bun", "-e", code], checkout);
  return JSON.parse(readFileSync(`${folder}.json`, "utf8")) as BuiltStore;
}

/** @returns what it says @throws Error with its last words */
export function run(command: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}
