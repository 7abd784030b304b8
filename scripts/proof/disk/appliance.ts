// The executable on a disk of the proof's own: commands to their end, appliances until they are told to stop, and what
// is asked of them. Must not judge what they answer.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { type Finished, PASSWORD, Running, withDeadline } from "../../../test/support/executable/executable.ts";

const EMAIL = "owner@acme.example";

/** Where an appliance is tried. */
interface Place {
  readonly executable: string;
  /** The data folder as the appliance sees it. */
  readonly data: string;
  /** The same as the proof sees it. */
  readonly seen: string;
  /** What every command line starts with. */
  readonly inside?: readonly string[];
}

interface Claimed {
  readonly key: string;
  readonly networkId: string;
}

export class ProvedAppliance {
  readonly place: Place;
  private readonly folder: string;
  private readonly running = new Set<Running>();

  /** @param folder for what the proof itself has to keep, on a disk without trouble */
  constructor(place: Place, folder: string) {
    this.place = place;
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Runs a command on the data to its end. */
  async run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    const child = this.spawn([...args, "--data", this.place.data], env);
    child.stdin.end();
    const [out, err] = await withDeadline(
      Promise.all([child.stdout.text(), child.stderr.text(), child.exited]),
      `netledger ${args[0]}`,
      () => child.kill("SIGKILL"),
    );
    return { code: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode), out, err };
  }

  /** Starts the appliance. @returns how it ended, where it did not come up */
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

  /** @throws Error where it does not come up */
  async serve(env: Record<string, string> = {}): Promise<Running> {
    const started = await this.start(env);
    if (started instanceof Running) return started;
    throw new Error(`the appliance did not start: ${started.err}`);
  }

  /** Makes the first organization and a key of its Owner. */
  async setUp(): Promise<Claimed> {
    const passwordFile = join(this.folder, "password");
    writeFileSync(passwordFile, `${PASSWORD}\n`);
    const made = await this.run([
      "setup",
      "--organization",
      "Acme",
      "--network",
      "Main",
      "--email",
      EMAIL,
      "--password-file",
      passwordFile,
    ]);
    const key = await this.run(["key", "create", "--email", EMAIL, "--name", "proof", "--permissions", "Owner"]);
    if (made.code !== 0 || key.code !== 0) throw new Error(made.err + key.err);
    return { key: key.out.trim(), networkId: /network_id\t(\S+)/.exec(made.out)?.[1] ?? "" };
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    for (const each of this.running) each.kill("SIGKILL");
    await Promise.all([...this.running].map((each) => each.exited));
  }

  /** Names of the files in the data folder's folder of backups, those of unfinished ones included. */
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

  private spawn(args: readonly string[], env: Record<string, string>): Bun.Subprocess<"pipe", "pipe", "pipe"> {
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith("NETLEDGER_")),
    );
    return Bun.spawn([...(this.place.inside ?? []), this.place.executable, ...args], {
      env: { ...inherited, ...env },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
  }
}

/** A client with the session of the Owner. @returns null where the sign-in was refused; the answer's code */
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

/** Asks until it is so. @returns milliseconds that it took, or null where it was not so within the time */
export async function until(holds: () => boolean | Promise<boolean>, atMostMs: number): Promise<number | null> {
  const began = performance.now();
  while (performance.now() - began < atMostMs) {
    if (await holds()) return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return null;
}
