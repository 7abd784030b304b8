// Destinations of secrets, observed at the sockets: an appliance and all possible targets in a private network
// namespace, while Members, scans and undos change addresses and subnets at random.

import { systemTimers } from "../../../src/base/timers.ts";
import { PROOF_HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, ProofContext } from "../part.ts";

/** Report that the inner process prints on its first line. */
export interface InsideReport {
  readonly findings: readonly Finding[];
}

export async function proveSentSecrets(
  context: ProofContext,
): Promise<{ findings: readonly Finding[]; skipped: readonly string[] }> {
  const missing = ["unshare", "ip"].find((tool) => Bun.which(tool) === null);
  if (missing !== undefined)
    return { findings: [], skipped: [`Destinations of secrets: ${missing} is not installed.`] };
  const isRoot = process.getuid?.() === 0;
  const unshare = [
    "unshare",
    "--net",
    ...(isRoot ? [] : ["--user", "--map-root-user"]),
    "--kill-child",
    "--fork",
    "--",
  ];
  const probe = Bun.spawnSync([...unshare, "ip", "link", "set", "lo", "up"], { stderr: "pipe" });
  if (probe.exitCode !== 0)
    return {
      findings: [],
      skipped: [
        `Destinations of secrets: a network namespace cannot be created here: ${probe.stderr.toString().trim().split("\n")[0] ?? ""}.`,
      ],
    };
  const { form, executable, directory, seed } = context;
  const child = Bun.spawn(
    [
      ...unshare,
      process.execPath,
      `${import.meta.dir}/sent-secrets-inside.ts`,
      JSON.stringify({ form, executable, directory, seed }),
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const cancelTimeout = systemTimers.after(PROOF_HANG_MS, () => child.kill("SIGKILL"));
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  cancelTimeout();
  if (child.exitCode !== 0) throw new Error(`the destinations of secrets could not be tested: ${err.slice(-2_000)}`);
  return { findings: (JSON.parse(out) as InsideReport).findings, skipped: [] };
}
