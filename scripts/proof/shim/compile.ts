// Compiles the preload shim if there is a compiler. The shim's head describes its behavior and variables.

import { join } from "node:path";

const SOURCE = join(import.meta.dir, "forgetful-disk.c");

/**
 * @param directory of the library
 * @returns its path, or the reason why there is none in one sentence
 */
export function compileShim(directory: string): { readonly path: string } | { readonly missing: string } {
  const compiler = ["cc", "gcc", "clang"].find((name) => Bun.which(name) !== null);
  if (process.platform !== "linux") return { missing: "the disk that forgets is a preload library for Linux" };
  if (compiler === undefined)
    return { missing: "there is no C compiler (cc, gcc or clang) to make the disk that forgets with" };
  const path = join(directory, "forgetful-disk.so");
  const made = Bun.spawnSync([compiler, "-shared", "-fPIC", "-O2", "-o", path, SOURCE, "-ldl"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return made.success
    ? { path }
    : { missing: `the disk that forgets does not compile here: ${made.stderr.toString().trim().split("\n")[0]}` };
}
