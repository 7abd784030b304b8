// A network of an appliance's own, in which nothing but loopback is: what it records of its machine is then not what
// other tests open and close beside it.

/** Before a program, which then is this process: with interfaces of its own, of which loopback is up. */
const READY = ["sh", "-c", 'mount -t sysfs sysfs /sys && ip link set lo up && exec "$@"', "sh"];

/** What can make one: root, or whoever may be root among users of his own. */
const WAYS = [
  { make: ["unshare", "--mount", "--net", ...READY], enter: ["nsenter", "--net"] },
  {
    make: ["unshare", "--map-root-user", "--mount", "--net", ...READY],
    enter: ["nsenter", "--user", "--preserve-credentials", "--net"],
  },
];

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

export interface OwnNetwork {
  /** Runs a program, as the same process, in a new one. */
  readonly make: readonly string[];
  /** Runs a program in that of a process. */
  readonly enter: (pid: number) => string[];
}

/** Null where none can be made: without the right to, or without `unshare`, `nsenter` and `ip`. */
export const OWN_NETWORK: OwnNetwork | null = findNetwork();

function findNetwork(): OwnNetwork | null {
  if (process.platform !== "linux" || ["unshare", "nsenter", "ip"].some((name) => Bun.which(name) === null))
    return null;
  const works = (command: readonly string[]) =>
    Bun.spawnSync([...command, "true"], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).success;
  const way = WAYS.find(({ make }) => works(make));
  return way === undefined ? null : { make: way.make, enter: (pid) => [...way.enter, `--target=${pid}`] };
}
