// Small disk: a tmpfs in a private mount namespace that disappears with its last process. Independent of its
// contents.

import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface DiskSize {
  readonly bytes: number;
  /** Maximum number of files and directories; the kernel's default if not set. */
  readonly inodes?: number;
}

/** Reason why no disk could be mounted. */
interface Unavailable {
  readonly reason: string;
}

/** Allocation unit of a tmpfs. */
export const BLOCK_BYTES = 4_096;

const FILLER = "filler";

export class SmallDisk {
  /** Prefix that runs a command in the namespace of the disk. */
  readonly commandPrefix: readonly string[];
  /** Path of the disk inside the namespace. */
  readonly path: string;
  /** Path of the disk as seen from this process. */
  readonly hostPath: string;
  private readonly holder: Bun.Subprocess<"pipe", "pipe", "pipe">;

  private constructor(holder: Bun.Subprocess<"pipe", "pipe", "pipe">, path: string, commandPrefix: readonly string[]) {
    this.holder = holder;
    this.path = path;
    this.commandPrefix = commandPrefix;
    this.hostPath = `/proc/${holder.pid}/root${path}`;
  }

  /**
   * Mounts a disk as root, or as root of a user namespace.
   * @param path empty directory, created if missing
   */
  static async mount(path: string, { bytes, inodes }: DiskSize): Promise<SmallDisk | Unavailable> {
    mkdirSync(path, { recursive: true });
    if (Bun.which("unshare") === null || Bun.which("nsenter") === null)
      return { reason: "util-linux (unshare, nsenter) is not installed." };
    const isRoot = process.getuid?.() === 0;
    const options = [`size=${bytes}`, "mode=0700", ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`])].join(",");
    // Holds the namespace until its input is closed, at the latest when this process exits.
    const script = 'mount -t tmpfs -o "$1" none "$0" && echo mounted && exec cat';
    const holder = Bun.spawn(["unshare", isRoot ? "-m" : "-Urm", "sh", "-c", script, path, options], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const { value } = await holder.stdout.getReader().read();
    if (value === undefined)
      return {
        reason: `a small disk cannot be mounted here: ${(await holder.stderr.text()).trim().split("\n")[0] ?? ""}.`,
      };
    const user = isRoot ? [] : ["-U", "--preserve-credentials"];
    return new SmallDisk(holder, path, ["nsenter", "-t", String(holder.pid), ...user, "-m", "--"]);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.hostPath);
    return bavail * bsize;
  }

  /** Fills the disk except for this many bytes, in whole blocks; frees space if less is left. */
  fillExcept(bytes: number): void {
    const file = openSync(join(this.hostPath, FILLER), "a");
    try {
      const blocks = (count: number) => Math.ceil(count / BLOCK_BYTES) * BLOCK_BYTES;
      for (let excess = this.freeBytes - blocks(bytes); excess > 0; excess = this.freeBytes - blocks(bytes)) {
        if (!this.append(file, Math.min(excess, 1 << 20))) break;
      }
      const missing = blocks(bytes) - this.freeBytes;
      if (missing > 0) ftruncateSync(file, Math.max(0, Bun.file(join(this.hostPath, FILLER)).size - missing));
    } finally {
      closeSync(file);
    }
  }

  /** Frees the filled space. */
  release(): void {
    rmSync(join(this.hostPath, FILLER), { force: true });
  }

  /** Creates empty files until no more fit. @returns their number */
  takeInodes(): number {
    let created = 0;
    for (; ; created += 1) {
      try {
        closeSync(openSync(join(this.hostPath, `${FILLER}-${created}`), "wx"));
      } catch {
        return created;
      }
    }
  }

  releaseInodes(): void {
    for (let i = 0; existsSync(join(this.hostPath, `${FILLER}-${i}`)); i += 1)
      rmSync(join(this.hostPath, `${FILLER}-${i}`));
  }

  /** Remounts the disk. @returns whether it succeeded; a disk open for writing cannot become read-only */
  async remount(option: "ro" | "rw"): Promise<boolean> {
    const command = [...this.commandPrefix, "mount", "-o", `remount,${option}`, this.path];
    return (await Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited) === 0;
  }

  async unmount(): Promise<void> {
    this.holder.stdin.end();
    await this.holder.exited;
  }

  private append(file: number, bytes: number): boolean {
    try {
      return writeSync(file, Buffer.alloc(bytes, "filler.")) > 0;
    } catch {
      return false;
    }
  }
}
