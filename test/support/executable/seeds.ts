// Seeds under dist/seeds: data directories of the executable, made by one test process and copied by all others.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SCAN_SCHEDULES } from "../../../src/demo/people.ts";
import { LONG_HANG_MS } from "../measure/limits.ts";

/** Retention of another executable's seeds, whose run may still use them. */
const OTHER_KEY_RETENTION_MS = 60 * 60_000;

/** File that describes a seed. */
const NOTE = "seed.json";
const DATA = "data";

/** The demo omits scheduled scans due within this time before its start. */
const DEMO_MARGIN_MINUTES = 5;

export interface Seed<Note> {
  /** Used as a file name. */
  readonly name: string;
  /** Older seeds are rebuilt, so that tests do not depend on a seed's age. */
  readonly maxAgeMs: number;
  /**
   * Creates the data in a directory that does not exist yet.
   * @returns a JSON value stored with the data
   */
  readonly make: (data: string) => Promise<Note>;
}

interface StoredSeed<Note> {
  readonly note: Note;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface StoredNote<Note> {
  readonly made_at: number;
  readonly note: Note;
  /** SHA-256 by file name. */
  readonly files: Readonly<Record<string, string>>;
}

export class Seeds {
  private readonly parent: string;
  private readonly directory: string;
  private readonly now: () => number;

  /**
   * @param parent the seed directory of all executables
   * @param key key of the executable and the sources that create seeds: see keyOfSeeds
   */
  constructor(parent: string, key: string, now: () => number = Date.now) {
    this.parent = parent;
    this.directory = join(parent, key);
    this.now = now;
  }

  /**
   * Copies a seed into a directory that does not exist yet, and creates the seed first if necessary. One process
   * creates it, others wait.
   */
  async put<Note>(seed: Seed<Note>, folder: string): Promise<Note> {
    const { note, files } = this.find(seed) ?? (await this.findOrCreate(seed));
    mkdirSync(folder, { mode: 0o700 });
    for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
    return note;
  }

  /** Null unless the seed exists, is complete and not too old. */
  private find<Note>({ name, maxAgeMs }: Seed<Note>): StoredSeed<Note> | null {
    try {
      const folder = join(this.directory, name);
      const stored = JSON.parse(readFileSync(join(folder, NOTE), "utf8")) as StoredNote<Note>;
      const ageMs = this.now() - stored.made_at;
      if (!(ageMs >= 0 && ageMs <= maxAgeMs)) return null;
      const files = new Map<string, Uint8Array>();
      for (const [file, hash] of Object.entries(stored.files)) {
        const bytes = readFileSync(join(folder, DATA, file));
        if (sha256(bytes) !== hash) return null;
        files.set(file, bytes);
      }
      return { note: stored.note, files };
    } catch {
      // Missing, damaged, or replaced during the read: the lock holder creates it.
      return null;
    }
  }

  private async findOrCreate<Note>(seed: Seed<Note>): Promise<StoredSeed<Note>> {
    mkdirSync(this.directory, { recursive: true });
    const release = await lock(join(this.directory, `${seed.name}.lock`));
    try {
      const found = this.find(seed);
      if (found !== null) return found;
      this.removeOthers();
      await this.make(seed);
    } finally {
      await release();
    }
    const stored = this.find(seed);
    if (stored === null) throw new Error(`seed ${seed.name} is not usable right after it was created`);
    return stored;
  }

  /** Requires the lock of the seed. */
  private async make<Note>({ name, make }: Seed<Note>): Promise<void> {
    const prefix = `.${name}-unfinished-`;
    // Left behind by a killed process.
    for (const name of readdirSync(this.directory))
      if (name.startsWith(prefix)) rmSync(join(this.directory, name), { recursive: true });
    const unfinished = mkdtempSync(join(this.directory, prefix));
    try {
      const data = join(unfinished, DATA);
      const note = await make(data);
      const files = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile());
      const stored: StoredNote<Note> = {
        made_at: this.now(),
        note,
        files: Object.fromEntries(files.map((file) => [file.name, sha256(readFileSync(join(data, file.name)))])),
      };
      writeFileSync(join(unfinished, NOTE), JSON.stringify(stored));
      const folder = join(this.directory, name);
      rmSync(folder, { recursive: true, force: true });
      renameSync(unfinished, folder);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }

  private removeOthers(): void {
    for (const key of readdirSync(this.parent)) {
      const folder = join(this.parent, key);
      if (folder === this.directory) continue;
      const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
      if (this.now() - mtimeMs > OTHER_KEY_RETENTION_MS) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/**
 * Key of the seeds. Hashing the executable itself would take a second of CPU time.
 * @param fingerprint fingerprint of the executable's inputs
 * @param sources files that create seeds
 */
export function keyOfSeeds(executable: string, fingerprint: string, sources: readonly string[]): string {
  const { size, mtimeMs } = existsSync(executable) ? statSync(executable) : { size: 0, mtimeMs: 0 };
  return sha256([fingerprint, size, mtimeMs, ...sources.map((file) => readFileSync(file, "utf8"))].join("\0")).slice(
    0,
    16,
  );
}

/**
 * Period in which new demos have the same month of data: the demo counts days from today's midnight in UTC, and a
 * scheduled scan that became due runs at its next start.
 * @param now UTC milliseconds
 */
export function demoSlot(now: number): string {
  const [day = "", time = ""] = new Date(now).toISOString().split("T");
  const bounds = SCAN_SCHEDULES.flatMap(({ times }) => times).flatMap((due) => [
    minutesOf(due),
    minutesOf(due) + DEMO_MARGIN_MINUTES,
  ]);
  return `${day}-${new Set(bounds.filter((bound) => bound <= minutesOf(time))).size}`;
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/**
 * Acquires a lock between processes. It is released when this process exits in any way: a child that reads from a pipe
 * of this process holds it.
 * @returns a function that releases the lock
 */
async function lock(file: string): Promise<() => Promise<unknown>> {
  const timeoutFlag = `--timeout=${LONG_HANG_MS / 1_000}`;
  const child = Bun.spawn(["flock", timeoutFlag, file, "sh", "-c", "echo locked && exec cat"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { done } = await child.stdout.getReader().read();
  if (done) throw new Error(`could not lock ${file} within ${LONG_HANG_MS} ms: ${await child.stderr.text()}`);
  return () => {
    child.stdin.end();
    return child.exited;
  };
}
