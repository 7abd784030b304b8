// Disposable copy of this checkout in which a recipe is applied and checked.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { CAUSES_FILE } from "../measure/causes.ts";
import type { Files } from "./recipe.ts";

const ROOT = resolve(import.meta.dir, "../../..");

/** The files below a directory. */
export function filesIn(root: string): Files {
  return {
    read: (path) =>
      statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
        ? readFileSync(join(root, path), "utf8")
        : undefined,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    list: (folder) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }),
  };
}

/** This checkout, with writes in memory. */
export function inMemoryFiles(): Files {
  const written = new Map<string, string>();
  const { read, list } = filesIn(ROOT);
  return { read: (path) => written.get(path) ?? read(path), write: (path, text) => void written.set(path, text), list };
}

/** The files in git, with uncommitted changes; dependencies are linked, dist/ is separate. */
export class ScratchCopy implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), "netledger-recipe-"));
  readonly files = filesIn(this.root);
  private running: Bun.Subprocess | null = null;

  constructor() {
    const listed = Bun.spawnSync(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for (const path of listed.stdout.toString().split("\0")) {
      if (path === "" || !existsSync(join(ROOT, path))) continue;
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      copyFileSync(join(ROOT, path), join(this.root, path));
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.root, "node_modules"));
  }

  /** Runs a shell command. @returns the command's exit status and output */
  async run(command: string): Promise<{ readonly exitCode: number; readonly output: string }> {
    // The environment outside a test run.
    const { TESTED_BUILD: _build, TEST_SEEDS: _seeds, [CAUSES_FILE]: _causes, ...env } = process.env;
    const child = Bun.spawn(["sh", "-c", `exec 2>&1; ${command}`], {
      cwd: this.root,
      env,
      stdin: "ignore",
      stdout: "pipe",
    });
    this.running = child;
    const output = await child.stdout.text();
    return { exitCode: await child.exited, output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.running?.kill();
    rmSync(this.root, { recursive: true, force: true });
  }
}
