// Executable under test on a separate disk: runs commands to completion, starts and stops appliances, and sends them
// requests. Does not evaluate their responses.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import {
  type CommandResult,
  OWNER,
  PASSWORD,
  Running,
  type SetUp,
  setUpBy,
  spawnPiped,
  waitForExit,
} from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { stopwatch } from "../../../test/support/measure/processor-time.ts";
import type { Proof, ProofContext } from "../part.ts";
import { type DiskSize, SmallDisk } from "./small-disk.ts";

/** Location of an appliance under test. */
interface ApplianceLocation {
  readonly executable: string;
  /** Data directory as seen by the appliance. */
  readonly data: string;
  /** Data directory as seen by the proof. */
  readonly hostData: string;
  /** Prefix of every command line. */
  readonly commandPrefix?: readonly string[];
}

export class ApplianceUnderTest {
  readonly location: ApplianceLocation;
  private readonly folder: string;
  private readonly running = new Set<Running>();

  /** @param folder directory on a healthy disk for files of the proof itself */
  constructor(location: ApplianceLocation, folder: string) {
    this.location = location;
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Creates an appliance on a healthy disk. */
  static in(
    { executable, directory }: ProofContext,
    data: string,
    folder = join(directory, "notes"),
  ): ApplianceUnderTest {
    return new ApplianceUnderTest({ executable, data, hostData: data }, folder);
  }

  /** Runs a command on the data to completion. */
  async run(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
    const child = this.spawn([...args, "--data", this.location.data], env);
    child.stdin.end();
    return waitForExit(child, `netledger ${args[0]}`);
  }

  /** Starts the appliance. @returns the exit instead if it fails to start */
  async start(env: Record<string, string> = {}): Promise<Running | CommandResult> {
    const child = this.spawn(["serve", "--data", this.location.data, "--listen", "127.0.0.1:0"], env);
    child.stdin.end();
    const running = new Running(child);
    this.running.add(running);
    try {
      await running.waitForStart();
      return running;
    } catch {
      return running.exited;
    }
  }

  /** Starts the appliance. @throws Error if it fails to start */
  async serve(env: Record<string, string> = {}): Promise<Running> {
    const started = await this.start(env);
    if (started instanceof Running) return started;
    throw new Error(`the appliance did not start: ${started.err}`);
  }

  /** Creates the first organization and an API key of its Owner. */
  async setUp(): Promise<SetUp> {
    const passwordFile = join(this.folder, "password");
    writeFileSync(passwordFile, `${PASSWORD}\n`);
    return setUpBy((args) => this.run(args), passwordFile);
  }

  /** Starts an appliance with an organization. @returns it with a client that has the Owner's key */
  async serveSetUp(): Promise<SetUp & { readonly running: Running; readonly client: Client }> {
    const setup = await this.setUp();
    const running = await this.serve();
    return { ...setup, running, client: running.withKey(setup.key) };
  }

  /** Kills all running processes. */
  async close(): Promise<void> {
    for (const running of this.running) running.kill("SIGKILL");
    await Promise.all([...this.running].map(({ exited }) => exited));
  }

  /** Names of the files in the backup directory, including unfinished backups. */
  backupFiles(): string[] {
    try {
      return readdirSync(join(this.location.hostData, "backups"));
    } catch {
      return [];
    }
  }

  removeBackups(): void {
    rmSync(join(this.location.hostData, "backups"), { recursive: true, force: true });
  }

  private spawn(args: readonly string[], env: Record<string, string>) {
    return spawnPiped([...(this.location.commandPrefix ?? []), this.location.executable, ...args], env);
  }
}

/**
 * Tests an appliance with its data on a small disk.
 * @param name name of the disk's directory
 * @param subject subject of the report if no such disk can be created
 */
export async function onSmallDisk(
  { executable, directory }: ProofContext,
  name: string,
  size: DiskSize,
  subject: string,
  attempt: (appliance: ApplianceUnderTest, disk: SmallDisk) => Promise<Proof>,
): Promise<Proof> {
  const disk = await SmallDisk.mount(join(directory, name), size);
  if (!(disk instanceof SmallDisk)) return { findings: [], skipped: [`${subject}: ${disk.reason}`] };
  const [data, hostData] = [join(disk.path, "data"), join(disk.hostPath, "data")];
  const location = { executable, data, hostData, commandPrefix: disk.commandPrefix };
  const appliance = new ApplianceUnderTest(location, join(directory, "notes"));
  try {
    return await attempt(appliance, disk);
  } finally {
    await appliance.close();
    await disk.unmount();
  }
}

/** Signs in as the Owner. @returns a client with the session, null if refused, and the response's status and code */
export async function signIn(
  client: Client,
): Promise<{ readonly client: Client | null; readonly status: number; readonly code: string | null }> {
  const response = await client.post("/api/auth/login", { email: OWNER, password: PASSWORD });
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  return {
    client: cookie === undefined ? null : client.with({ cookie }),
    status: response.status,
    code: response.body?.code ?? null,
  };
}

/**
 * Polls until the condition holds.
 * @returns milliseconds without waits for a CPU, or null after the timeout
 */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = HANG_MS): Promise<number | null> {
  const startedAt = performance.now();
  const elapsedMs = stopwatch();
  while (performance.now() - startedAt < timeoutMs) {
    if (await condition()) return elapsedMs();
    await Bun.sleep(5);
  }
  return null;
}
