// Networks of tests: the one that a run has to itself, and one of an appliance's own within it, where what the appliance
// records of its machine is not what other tests open and close at the same time.

import { resolve } from "node:path";

const OFFLINE = resolve(import.meta.dir, "../../../scripts/offline");

/** Set by scripts/offline: `own` where nothing but loopback can be reached, `shared` where no namespace could be made. */
const NETWORK = "TEST_NETWORK";

/**
 * Called before the executable starts: it scans, follows schedules and looks up names, and none of that may reach a
 * network that the tests did not make.
 * @throws Error outside of `scripts/offline`
 */
export function assertOwnNetwork(): void {
  if (process.env[NETWORK] !== "own")
    throw new Error("a test starts the executable only where it can reach nothing: run it by ./scripts/offline");
}

/** Before a command: runs it, as the same process, in a new network. */
export const IN_NEW_NETWORK: readonly string[] = [OFFLINE];

/** Before a command: runs it in the network of a process. */
export function inNetworkOf(pid: number): string[] {
  const namespaces = process.getuid?.() === 0 ? ["--net"] : ["--user", "--preserve-credentials", "--net"];
  return ["nsenter", ...namespaces, `--target=${pid}`];
}
