// Executable on a separate disk: commands to completion, appliances until stopped, and requests to them. Must not judge
// their answers.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import {
  type Finished,
  finished,
  PASSWORD,
  Running,
  type SetUp,
  setUpBy,
  spawnPiped,
} from "../../../test/support/executable/executable.ts";
import { stopwatch } from "../../../test/support/measure/processor-time.ts";
import type { Proof, Proving } from "../part.ts";
import { type DiskSize, SmallDisk } from "./small-disk.ts";

export const EMAIL = "owner@acme.example";

/** Location of an appliance under test. */
interface Place {
  readonly executable: string;
  /** Data folder as seen by the appliance. */
  readonly data: string;
  /** The same as seen by the proof. */
  readonly seen: string;
  /** Prefix of every command line. */
  readonly inside?: readonly string[];
}

export class ProvedAppliance {
  readonly place: Place;
  private readonly folder: string;
  private readonly running = new Set<Running>();

  /** @param folder for files of the proof itself, on a healthy disk */
  constructor(place: Place, folder: string) {
    this.place = place;
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** On a healthy disk. */
  static in({ executable, directory }: Proving, data: string, folder = join(directory, "notes")): ProvedAppliance {
    return new ProvedAppliance({ executable, data, seen: data }, folder);
  }

  /** Runs a command on the data to completion. */
  async run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    const child = this.spawn([...args, "--data", this.place.data], env);
    child.stdin.end();
    return finished(child, `netledger ${args[0]}`);
  }

  /** Starts the appliance. @returns its exit, if it failed to start */
  async start(env: Record<string, string> = {}): Promise<Running | Finished> {
    const child = this.spawn(["serve", "--data", this.place.data, "--listen", "127.0.0.1:0"], env);
    child.stdin.end();
    const running = new Running(child);
    this.running.add(running);
    try {
      await running.greeted();
      return running;
    } catch {
      return running.exited;
    }
  }

  /** @throws Error if it fails to start */
  async serve(env: Record<string, string> = {}): Promise<Running> {
    const started = await this.start(env);
    if (started instanceof Running) return started;
    throw new Error(`the appliance did not start: ${started.err}`);
  }

  /** Creates the first organization and a key of its Owner. */
  async setUp(): Promise<SetUp> {
    const passwordFile = join(this.folder, "password");
    writeFileSync(passwordFile, `${PASSWORD}\n`);
    return setUpBy((args) => this.run(args), passwordFile);
  }

  /** A running appliance with an organization, and a client with its Owner's key. */
  async serveSetUp(): Promise<SetUp & { readonly running: Running; readonly client: Client }> {
    const made = await this.setUp();
    const running = await this.serve();
    return { ...made, running, client: running.withKey(made.key) };
  }

  /** Ends running processes. */
  async close(): Promise<void> {
    for (const each of this.running) each.kill("SIGKILL");
    await Promise.all([...this.running].map((each) => each.exited));
  }

  /** File names in the backup folder, including unfinished ones. */
  backupFiles(): string[] {
    try {
      return readdirSync(join(this.place.seen, "backups"));
    } catch {
      return [];
    }
  }

  removeBackups(): void {
    rmSync(join(this.place.seen, "backups"), { recursive: true, force: true });
  }

  private spawn(args: readonly string[], env: Record<string, string>) {
    return spawnPiped([...(this.place.inside ?? []), this.place.executable, ...args], env);
  }
}

/**
 * Tests an appliance with its data on a small disk.
 * @param name of the disk's folder
 * @param what subject, for the report if no such disk can be created
 */
export async function onSmallDisk(
  { executable, directory }: Proving,
  name: string,
  size: DiskSize,
  what: string,
  attempt: (appliance: ProvedAppliance, disk: SmallDisk) => Promise<Proof>,
): Promise<Proof> {
  const disk = await SmallDisk.mount(join(directory, name), size);
  if (!(disk instanceof SmallDisk)) return { findings: [], leftOut: [`${what}: ${disk.reason}`] };
  const appliance = new ProvedAppliance(
    { executable, data: join(disk.path, "data"), seen: join(disk.outside, "data"), inside: disk.inside },
    join(directory, "notes"),
  );
  try {
    return await attempt(appliance, disk);
  } finally {
    await appliance.close();
    await disk.unmount();
  }
}

/** A client with the Owner's session, or null for a refused sign-in; with the answer's code. */
export async function signIn(
  client: Client,
): Promise<{ readonly client: Client | null; readonly status: number; readonly code: string | null }> {
  const answer = await client.post("/api/auth/login", { email: EMAIL, password: PASSWORD });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0];
  return {
    client: cookie === undefined ? null : client.with({ cookie }),
    status: answer.status,
    code: answer.body?.code ?? null,
  };
}

/**
 * Polls until the condition holds.
 * @returns milliseconds taken without waits for a processor, or null on timeout
 */
export async function until(holds: () => boolean | Promise<boolean>, atMostMs: number): Promise<number | null> {
  const began = performance.now();
  const elapsedMs = stopwatch();
  while (performance.now() - began < atMostMs) {
    if (await holds()) return elapsedMs();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return null;
}
