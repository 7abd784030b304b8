// Network namespaces for tests: one for the run, and one per appliance within it, so that an appliance's record of its
// machine does not contain the sockets of other tests.

import { resolve } from "node:path";

const OFFLINE = resolve(import.meta.dir, "../../../scripts/offline");

/** Set by scripts/offline: `own` if only loopback is reachable, `shared` if no namespace could be created. */
const NETWORK = "TEST_NETWORK";

/**
 * Call before starting the executable: it scans, follows schedules and resolves names, and must reach only networks
 * created by the tests.
 * @throws Error outside `scripts/offline`
 */
export function assertOwnNetwork(): void {
  if (process.env[NETWORK] !== "own")
    throw new Error("tests that start the executable must run without network access: use ./scripts/offline");
}

/** Command prefix: runs the command in a new network namespace, as the same process. */
export const IN_NEW_NETWORK: readonly string[] = [OFFLINE];

/** Command prefix: runs the command in the network namespace of a process. */
export function inNetworkOf(pid: number): string[] {
  const namespaces = process.getuid?.() === 0 ? ["--net"] : ["--user", "--preserve-credentials", "--net"];
  return ["nsenter", ...namespaces, `--target=${pid}`];
}
