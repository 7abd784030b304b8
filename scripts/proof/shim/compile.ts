// Preload shim compilation, if there is a compiler. The head of the shim describes its behavior and variables.

import { join } from "node:path";

const SOURCE = join(import.meta.dir, "forgetful-disk.c");

/** Compiles the shim into a directory. @returns the path of the library, or the reason why there is none */
export function compileShim(directory: string): { readonly path: string } | { readonly missing: string } {
  const compiler = ["cc", "gcc", "clang"].find((name) => Bun.which(name) !== null);
  if (process.platform !== "linux") return { missing: "the forgetful disk is a preload library for Linux" };
  if (compiler === undefined)
    return { missing: "compiling the forgetful disk requires a C compiler (cc, gcc or clang)" };
  const path = join(directory, "forgetful-disk.so");
  const compilation = Bun.spawnSync([compiler, "-shared", "-fPIC", "-O2", "-o", path, SOURCE, "-ldl"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  return compilation.success
    ? { path }
    : { missing: `the forgetful disk does not compile here: ${compilation.stderr.toString().trim().split("\n")[0]}` };
}
