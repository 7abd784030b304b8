// Possible contents of a disk after a power loss, from its previous contents and the shim's log. Only synced data is
// certain; any other block may be old or new, any name may be gone or back. Must not know the files' contents.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { SeededRandom } from "../../../test/support/injected/seeded-random.ts";
import { type DiskRecord, IS_WHOLE, RECORD, readRecords, textsOf } from "./disk-log.ts";

/** Fate of unsynced data. */
export type Fate =
  /** Lost. */
  | "dropped"
  /** Each block and each name independently, at any point of its history. */
  | "torn"
  /** All arrived: the result of a kill alone. */
  | "kept";

/** Losses at power-off. */
export interface Loss {
  /** In unsynced writes. */
  readonly unsyncedBytes: number;
  /** Of these, bytes in blocks without their last written content. */
  readonly droppedBytes: number;
  /** Files renamed, missing or reappeared. */
  readonly changedNames: number;
  /** Files with a reverted size. */
  readonly changedSizes: number;
}

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly size: number };

/** Contents of a file, independent of its names. */
class Contents {
  /** Certain part. */
  certain: Buffer;
  /** In chronological order. */
  unsynced: Change[] = [];

  constructor(certain: Buffer) {
    this.certain = certain;
  }

  settle(count: number): void {
    this.certain = applied(this.certain, this.unsynced.slice(0, count));
    this.unsynced = this.unsynced.slice(count);
  }
}

interface Folder {
  readonly isFolder: true;
}
const FOLDER: Folder = { isFolder: true };
type Entry = Contents | Folder;
type Names = Map<string, Entry>;

export class ForgetfulDisk {
  private readonly root: string;
  private readonly log: string;
  /** By current inode. */
  private byInode = new Map<number, Contents>();
  /** Certain names by folder, relative to the root. */
  private certainNames = new Map<string, Names>();
  private renames: Array<{ readonly from: string; readonly to: string }> = [];
  /** Files mapped for writing: their contents are unknown. */
  readonly mapped = new Set<string>();

  /**
   * Takes the existing contents below `root` as certain.
   * @param root absolute, without symbolic links; must exist
   * @param log path of the shim's log
   */
  constructor(root: string, log: string) {
    this.root = root;
    this.log = log;
    this.begin();
  }

  /** Environment variables for the shim. */
  get environment(): Record<string, string> {
    return { FORGETFUL_ROOT: this.root, FORGETFUL_LOG: this.log };
  }

  /**
   * No power loss: everything stays and becomes certain. Processes the log first. A thread killed within a write has
   * completed it without a log entry: the next program reads it, and builds on it.
   */
  keep(): void {
    this.takeIn();
    for (const [folder, names] of this.namesNow()) {
      for (const [name, entry] of names) {
        if (!(entry instanceof Contents)) continue;
        const known = applied(entry.certain, entry.unsynced);
        entry.unsynced.push(...differences(known, readFileSync(join(this.root, folder, name))));
      }
    }
  }

  /** Processes new log records; the program must have ended. */
  takeIn(): void {
    const begun = new Map<number, { readonly contents: Contents; readonly count: number }>();
    for (const record of readRecords(readLog(this.log))) this.take(record, begun);
    truncateLog(this.log);
  }

  /**
   * Power loss: reduces the files below the root to the disk's contents, and takes these as certain. Processes the log
   * first.
   * @param random decides the result of "torn"
   */
  losePower(fate: Fate, random: SeededRandom): Loss {
    this.takeIn();
    const { files, folders, loss } = this.outcome(fate, random);
    for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true, force: true });
    write(this.root, files, folders);
    this.begin();
    return loss;
  }

  /** As losePower, but into a new folder; the root stays unchanged. */
  couldHaveLeft(directory: string, fate: Fate, random: SeededRandom): Loss {
    this.takeIn();
    const { files, folders, loss } = this.outcome(fate, random);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    write(directory, files, folders);
    return loss;
  }

  /** Number of uncertain bytes of a file: all if its name is uncertain. Processes the log first. */
  uncertainBytes(path: string): number {
    this.takeIn();
    const folder = dirname(path) === "." ? "" : dirname(path);
    const entry = this.namesNow().get(folder)?.get(basename(path));
    if (!(entry instanceof Contents)) return 0;
    if (this.certainNames.get(folder)?.get(basename(path)) !== entry) return statSync(join(this.root, path)).size;
    return entry.unsynced.reduce((sum, change) => sum + ("bytes" in change ? change.bytes.length : 0), 0);
  }

  /** Files whose contents the log does not explain: none, unless the shim missed a call. Processes the log first. */
  unexplained(): string[] {
    this.takeIn();
    const differing: string[] = [];
    for (const [folder, names] of this.namesNow()) {
      for (const [name, entry] of names) {
        if (
          entry instanceof Contents &&
          !applied(entry.certain, entry.unsynced).equals(readFileSync(join(this.root, folder, name)))
        )
          differing.push(join(folder, name));
      }
    }
    return differing;
  }

  private begin(): void {
    this.byInode = new Map();
    this.certainNames = new Map();
    this.renames = [];
    this.certainNames = this.namesNow((path) => new Contents(readFileSync(path)));
    truncateLog(this.log);
  }

  private take(record: DiskRecord, begun: Map<number, { contents: Contents; count: number }>): void {
    const { type, inode, bytes } = record;
    switch (type) {
      case RECORD.write:
        this.contentsOf(inode).unsynced.push({ at: record.offset, bytes: Buffer.from(bytes) });
        return;
      case RECORD.truncate:
        this.contentsOf(inode).unsynced.push({ size: record.offset });
        return;
      case RECORD.begin: {
        const contents = this.contentsOf(inode);
        // Written bypassing the shim.
        const isOther = (record.flags & IS_WHOLE) !== 0 && !applied(contents.certain, contents.unsynced).equals(bytes);
        if (isOther) contents.unsynced.push({ size: 0 }, { at: 0, bytes: Buffer.from(bytes) });
        begun.set(record.sync, { contents, count: contents.unsynced.length });
        return;
      }
      case RECORD.end:
        this.settle(begun, record.sync);
        return;
      case RECORD.listing:
        this.settleNames(textsOf(bytes));
        return;
      case RECORD.rename: {
        const [from = "", to = ""] = textsOf(bytes);
        this.renames.push({ from: relative(this.root, from), to: relative(this.root, to) });
        return;
      }
      case RECORD.unlink:
        if (record.offset === 0) this.byInode.delete(inode);
        return;
      case RECORD.create:
        this.byInode.set(inode, new Contents(Buffer.alloc(0)));
        return;
      case RECORD.open: {
        // Created bypassing the shim, with a reused inode.
        const contents = this.contentsOf(inode);
        if (record.offset === 0 && applied(contents.certain, contents.unsynced).length > 0)
          this.byInode.set(inode, new Contents(Buffer.alloc(0)));
        return;
      }
      case RECORD.map:
        this.mapped.add(relative(this.root, textsOf(bytes)[0] ?? ""));
        return;
    }
  }

  private settle(begun: Map<number, { contents: Contents; count: number }>, sync: number): void {
    const one = begun.get(sync);
    if (one === undefined) throw new Error(`the disk's log has the end of sync ${sync}, but not its beginning`);
    begun.delete(sync);
    const { contents, count } = one;
    // Two syncs of one file may overlap: the first has already removed its part.
    const left = Math.max(0, Math.min(count, contents.unsynced.length));
    contents.settle(left);
    for (const other of begun.values())
      if (other.contents === contents) Object.assign(other, { count: Math.max(0, other.count - left) });
  }

  private settleNames([folder = "", ...entries]: string[]): void {
    const names: Names = new Map();
    for (const entry of entries) {
      const [, inode = "", type = "", name = ""] = /^(\d+) (.) (.*)$/s.exec(entry) ?? [];
      if (!name.endsWith("-shm")) names.set(name, type === "d" ? FOLDER : this.contentsOf(Number(inode)));
    }
    const path = relative(this.root, folder);
    this.certainNames.set(path, names);
    this.renames = this.renames.filter(
      ({ from, to }) => dirname(join("/", from)) !== join("/", path) || dirname(join("/", to)) !== join("/", path),
    );
  }

  private contentsOf(inode: number): Contents {
    let contents = this.byInode.get(inode);
    if (contents === undefined) {
      contents = new Contents(Buffer.alloc(0));
      this.byInode.set(inode, contents);
    }
    return contents;
  }

  /** Current names by folder. */
  private namesNow(newContents: (path: string) => Contents = () => new Contents(Buffer.alloc(0))): Map<string, Names> {
    const found = new Map<string, Names>();
    const look = (folder: string) => {
      const names: Names = new Map();
      found.set(folder, names);
      for (const name of readdirSync(join(this.root, folder)).sort()) {
        const path = join(this.root, folder, name);
        const status = lstatSync(path);
        if (status.isDirectory()) {
          names.set(name, FOLDER);
          look(join(folder, name));
        } else if (!name.endsWith("-shm")) {
          if (!this.byInode.has(status.ino)) this.byInode.set(status.ino, newContents(path));
          names.set(name, this.contentsOf(status.ino));
        }
      }
    };
    look("");
    return found;
  }

  private outcome(fate: Fate, random: SeededRandom): { files: Map<string, Buffer>; folders: string[]; loss: Loss } {
    const now = this.namesNow();
    const loss = { unsyncedBytes: 0, droppedBytes: 0, changedNames: 0, changedSizes: 0 };
    const made = new Map<Contents, Buffer>();
    const files = new Map<string, Buffer>();
    const folders: string[] = [];
    const place = (folder: string) => {
      const [old, current] = [
        this.certainNames.get(folder) ?? new Map<string, Entry>(),
        now.get(folder) ?? new Map<string, Entry>(),
      ];
      const isNew = this.newNames(folder, new Set([...old.keys(), ...current.keys()]), fate, random);
      for (const name of [...new Set([...old.keys(), ...current.keys()])].sort()) {
        const entry = isNew(name) ? current.get(name) : old.get(name);
        if (entry !== current.get(name)) loss.changedNames += 1;
        const path = join(folder, name);
        if (entry instanceof Contents) {
          const content = made.get(entry) ?? survivors(entry, fate, random, loss);
          made.set(entry, content);
          files.set(path, content);
        } else if (entry !== undefined) {
          folders.push(path);
          place(path);
        }
      }
    };
    place("");
    return { files, folders, loss };
  }

  /** New names of a folder; both names of a rename together. */
  private newNames(
    folder: string,
    names: ReadonlySet<string>,
    fate: Fate,
    random: SeededRandom,
  ): (name: string) => boolean {
    const chosen = new Map(
      [...names].sort().map((name) => [name, fate === "kept" || (fate === "torn" && random.integer(2) === 1)]),
    );
    for (const { from, to } of this.renames) {
      const [one, other] = [relative(folder, from), relative(folder, to)];
      if (chosen.has(one) && chosen.has(other)) chosen.set(one, chosen.get(other) === true);
    }
    return (name) => chosen.get(name) === true;
  }
}

/** Remaining contents of a file. */
function survivors(
  contents: Contents,
  fate: Fate,
  random: SeededRandom,
  loss: { unsyncedBytes: number; droppedBytes: number; changedSizes: number },
): Buffer {
  const { certain, unsynced } = contents;
  for (const change of unsynced) if ("bytes" in change) loss.unsyncedBytes += change.bytes.length;
  if (unsynced.length === 0) return certain;
  const whole = applied(certain, unsynced);
  if (fate === "kept") return whole;
  const left = fate === "dropped" ? certain : torn(contents, random);
  for (let at = 0; at < Math.max(whole.length, left.length); at += SECTOR_BYTES) {
    if (!whole.subarray(at, at + SECTOR_BYTES).equals(left.subarray(at, at + SECTOR_BYTES)))
      loss.droppedBytes += SECTOR_BYTES;
  }
  if (left.length !== whole.length) loss.changedSizes += 1;
  return left;
}

const SECTOR_BYTES = 512;
const PAGE_BYTES = 4_096;

/**
 * The size is that after any of the changes. A truncated file gets other blocks when it grows again: so nothing before
 * the last included truncation remains, and nothing after the first excluded one. In between, each block is as after
 * any of its changes.
 */
function torn({ certain, unsynced }: Contents, random: SeededRandom): Buffer {
  const blockBytes = random.pick([SECTOR_BYTES, PAGE_BYTES]);
  /** Probability, in eighths, that a block arrived in its last state. */
  const bias = random.pick([1, 4, 7]);
  const reached = random.integer(unsynced.length + 1);
  let first = 0;
  let last = unsynced.length;
  let size = certain.length;
  for (const [index, change] of unsynced.entries()) {
    const isCut = "size" in change && change.size < size;
    if (isCut && index < reached) first = index + 1;
    if (isCut && index >= reached) {
      last = index;
      break;
    }
    if (index < reached) size = "size" in change ? change.size : Math.max(size, change.at + change.bytes.length);
  }
  const left = Buffer.alloc(size);
  applied(certain, unsynced.slice(0, first)).copy(left);
  /** Writes by block, in order. */
  const writes = new Map<number, Array<{ readonly at: number; readonly bytes: Buffer }>>();
  for (const change of unsynced.slice(first, last)) {
    if ("size" in change) continue;
    for (
      let block = Math.floor(change.at / blockBytes);
      block * blockBytes < change.at + change.bytes.length;
      block += 1
    ) {
      const known = writes.get(block);
      if (known === undefined) writes.set(block, [change]);
      else known.push(change);
    }
  }
  for (const [block, changes] of writes) {
    const count = random.integer(8) < bias ? changes.length : random.integer(changes.length + 1);
    const [begin, end] = [block * blockBytes, Math.min((block + 1) * blockBytes, size)];
    for (const { at, bytes } of changes.slice(0, count)) {
      const [from, to] = [Math.max(begin, at), Math.min(end, at + bytes.length)];
      if (from < to) bytes.copy(left, from, from - at, to - at);
    }
  }
  return left;
}

/** Changes that turn one content into another, in sectors. */
function differences(before: Buffer, after: Buffer): Change[] {
  if (before.equals(after)) return [];
  const changes: Change[] = before.length === after.length ? [] : [{ size: after.length }];
  for (let at = 0; at < after.length; at += SECTOR_BYTES) {
    const bytes = after.subarray(at, at + SECTOR_BYTES);
    const isThere = before.length >= at + bytes.length && bytes.equals(before.subarray(at, at + bytes.length));
    if (!isThere) changes.push({ at, bytes });
  }
  return changes;
}

function applied(certain: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return certain;
  let [size, capacity] = [certain.length, certain.length];
  for (const change of changes) {
    size = "size" in change ? change.size : Math.max(size, change.at + change.bytes.length);
    capacity = Math.max(capacity, size);
  }
  const result = Buffer.alloc(capacity);
  certain.copy(result);
  let length = certain.length;
  for (const change of changes) {
    if ("size" in change) {
      if (change.size < length) result.fill(0, change.size, length);
      length = change.size;
    } else {
      change.bytes.copy(result, change.at);
      length = Math.max(length, change.at + change.bytes.length);
    }
  }
  return result.subarray(0, size);
}

function write(directory: string, files: ReadonlyMap<string, Buffer>, folders: readonly string[]): void {
  for (const folder of folders) mkdirSync(join(directory, folder), { recursive: true, mode: 0o700 });
  for (const [path, content] of files) {
    writeFileSync(join(directory, path), content, { mode: 0o600 });
    chmodSync(join(directory, path), 0o600);
  }
}

function readLog(path: string): Buffer {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? Buffer.alloc(0) : readFileSync(path);
}

function truncateLog(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) truncateSync(path);
}
