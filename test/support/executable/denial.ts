// Wrapper that denies system facilities to a program (denial.c): compiled if a compiler exists, and tested.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Names as in denial.c. */
export const DENIALS = ["mdwe", "netlink"] as const;
export type Denial = (typeof DENIALS)[number];

/** Command prefix that denies a facility to a program, or the reason why it is not available. */
export class DenialWrapper {
  readonly missing: string | null;
  private readonly directory: string;
  private readonly path: string;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "netledger-denial-"));
    this.path = join(this.directory, "denial");
    this.missing = this.missingReason();
  }

  command(denial: Denial, program: readonly string[]): string[] {
    return [this.path, denial, ...program];
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private missingReason(): string | null {
    const compiler = ["cc", "gcc", "clang"].find((name) => Bun.which(name) !== null);
    if (process.platform !== "linux" || compiler === undefined) return "without a C compiler on Linux";
    const source = join(import.meta.dir, "denial.c");
    const compilation = Bun.spawnSync([compiler, "-O2", "-o", this.path, source], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    if (!compilation.success)
      return `where denial.c does not compile (${compilation.stderr.toString().trim().split("\n")[0]})`;
    const unsupported = DENIALS.find((denial) => Bun.spawnSync([this.path, denial, "/bin/true"]).exitCode !== 0);
    return unsupported === undefined ? null : `where the kernel does not support ${unsupported}`;
  }
}
