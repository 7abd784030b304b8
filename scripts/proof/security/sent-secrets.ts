// Destinations of secrets, observed at the sockets: an appliance and all possible targets in a private network
// namespace, with random changes of addresses and subnets by Members, scans and undos.

import { systemTimers } from "../../../src/base/timers.ts";
import { PROOF_HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proving } from "../part.ts";

/** Result of the inner process, on its first output line. */
export interface InsideReport {
  readonly findings: readonly Finding[];
}

export async function proveSentSecrets(
  proving: Proving,
): Promise<{ findings: readonly Finding[]; leftOut: readonly string[] }> {
  const missing = ["unshare", "ip"].find((tool) => Bun.which(tool) === null);
  if (missing !== undefined)
    return { findings: [], leftOut: [`Whom secrets are sent to takes ${missing}, which is not installed.`] };
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
      leftOut: [
        `Whom secrets are sent to takes a network namespace, which cannot be made here: ${probe.stderr.toString().trim().split("\n")[0] ?? ""}.`,
      ],
    };
  const { form, executable, directory, seed } = proving;
  const child = Bun.spawn(
    [
      ...unshare,
      process.execPath,
      `${import.meta.dir}/sent-secrets-inside.ts`,
      JSON.stringify({ form, executable, directory, seed }),
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const late = systemTimers.after(PROOF_HANG_MS, () => child.kill("SIGKILL"));
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  late();
  if (child.exitCode !== 0) throw new Error(`whom secrets are sent to could not be tried: ${err.slice(-2_000)}`);
  return { findings: (JSON.parse(out) as InsideReport).findings, leftOut: [] };
}
