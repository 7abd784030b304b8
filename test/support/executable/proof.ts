// Short form of a part of scripts/prove, with a test per finding.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "../../../scripts/proof/part.ts";
import { recordTime } from "../measure/causes.ts";
import { EXECUTABLE, ensureExecutable } from "./executable.ts";

/** Fixed, so that a failure can be repeated with `./scripts/prove --short --seed 1`. */
const SEED = 1;

/** Await it while the test file loads: the tests are registered once the findings are known. */
export async function proveShort(part: Part): Promise<void> {
  ensureExecutable();
  const directory = mkdtempSync(join(tmpdir(), `netledger-proof-${part.name}-`));
  try {
    const proving = { form: "short", executable: EXECUTABLE, directory, seed: SEED, say: () => {} } as const;
    const proof = await recordTime("proofs", () => part.prove(proving));
    for (const { claim, held, figure } of proof.findings) {
      test(claim, () => expect({ held, figure }).toEqual({ held: true, figure }));
    }
    for (const reason of proof.skipped ?? []) test(`skipped: ${reason}`, () => expect(reason).not.toBe(""));
    test(`${part.title} yields findings`, () =>
      expect(proof.findings.length + (proof.skipped?.length ?? 0)).toBeGreaterThan(0));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
