// Small disk: a tmpfs in a private mount namespace, which ends with its last process. Must not know its contents.

import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface DiskSize {
  readonly bytes: number;
  /** Maximum number of files and folders; the kernel's default if not set. */
  readonly inodes?: number;
}

/** Reason: refused, or without the tools. */
interface NoDisk {
  readonly reason: string;
}

/** Allocation unit of a tmpfs. */
export const BLOCK_BYTES = 4_096;

const FILLER = "filler";

export class SmallDisk {
  /** Command prefix to run where the disk is mounted. */
  readonly inside: readonly string[];
  /** Path of the disk inside the namespace. */
  readonly path: string;
  /** The same, as seen from here. */
  readonly outside: string;
  private readonly holder: Bun.Subprocess<"pipe", "pipe", "pipe">;

  private constructor(holder: Bun.Subprocess<"pipe", "pipe", "pipe">, path: string, inside: readonly string[]) {
    this.holder = holder;
    this.path = path;
    this.inside = inside;
    this.outside = `/proc/${holder.pid}/root${path}`;
  }

  /**
   * As root, or as root of a user namespace.
   * @param path an empty folder, created if missing
   */
  static async mount(path: string, { bytes, inodes }: DiskSize): Promise<SmallDisk | NoDisk> {
    mkdirSync(path, { recursive: true });
    if (Bun.which("unshare") === null || Bun.which("nsenter") === null)
      return { reason: "util-linux (unshare, nsenter) is not installed." };
    const isRoot = process.getuid?.() === 0;
    const options = [`size=${bytes}`, "mode=0700", ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`])].join(",");
    // Holds the namespace until its input closes, at the latest at the exit of this process.
    const holder = Bun.spawn(
      [
        "unshare",
        isRoot ? "-m" : "-Urm",
        "sh",
        "-c",
        'mount -t tmpfs -o "$1" none "$0" && echo mounted && exec cat',
        path,
        options,
      ],
      { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    );
    const { value } = await holder.stdout.getReader().read();
    if (value === undefined)
      return {
        reason: `a small disk cannot be mounted here: ${(await holder.stderr.text()).trim().split("\n")[0] ?? ""}.`,
      };
    return new SmallDisk(holder, path, [
      "nsenter",
      "-t",
      String(holder.pid),
      ...(isRoot ? [] : ["-U", "--preserve-credentials"]),
      "-m",
      "--",
    ]);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.outside);
    return bavail * bsize;
  }

  /** Fills the disk except for this many bytes, in whole blocks; frees space if it had filled more. */
  leave(bytes: number): void {
    const file = openSync(join(this.outside, FILLER), "a");
    try {
      const blocks = (count: number) => Math.ceil(count / BLOCK_BYTES) * BLOCK_BYTES;
      for (let over = this.freeBytes - blocks(bytes); over > 0; over = this.freeBytes - blocks(bytes)) {
        if (!this.take(file, Math.min(over, 1 << 20))) break;
      }
      const missing = blocks(bytes) - this.freeBytes;
      if (missing > 0) ftruncateSync(file, Math.max(0, Bun.file(join(this.outside, FILLER)).size - missing));
    } finally {
      closeSync(file);
    }
  }

  /** Frees the filled space. */
  release(): void {
    rmSync(join(this.outside, FILLER), { force: true });
  }

  /** Creates empty files until no more fit. @returns their number */
  takeInodes(): number {
    let made = 0;
    for (; ; made += 1) {
      try {
        closeSync(openSync(join(this.outside, `${FILLER}-${made}`), "wx"));
      } catch {
        return made;
      }
    }
  }

  releaseInodes(): void {
    for (let each = 0; existsSync(join(this.outside, `${FILLER}-${each}`)); each += 1)
      rmSync(join(this.outside, `${FILLER}-${each}`));
  }

  /** @returns success; a disk in use by writers refuses to become read-only */
  async remount(option: "ro" | "rw"): Promise<boolean> {
    return (
      (await Bun.spawn([...this.inside, "mount", "-o", `remount,${option}`, this.path], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      }).exited) === 0
    );
  }

  async unmount(): Promise<void> {
    this.holder.stdin.end();
    await this.holder.exited;
  }

  private take(file: number, bytes: number): boolean {
    try {
      return writeSync(file, Buffer.alloc(bytes, "filler.")) > 0;
    } catch {
      return false;
    }
  }
}
