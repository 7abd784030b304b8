// Possible contents of a disk after a power loss, from its previous contents and the shim's log. Only synced data is
// certain: any other block may be old or new, and any directory entry may be missing or restored. Independent of
// the files' contents.

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
import { type DiskRecord, IS_COMPLETE, RECORD, readRecords, textsOf } from "./disk-log.ts";

/** Effect of a power loss on unsynced data. */
export type LossMode =
  /** All of it is lost. */
  | "dropped"
  /** Each block and each name is independently left at any point of its history. */
  | "torn"
  /** Everything written remains, as after a kill without a power loss. */
  | "kept";

/** Result of a power loss. */
export interface Loss {
  /** Bytes in unsynced writes. */
  readonly unsyncedBytes: number;
  /** Bytes in blocks that lack their last written content. */
  readonly droppedBytes: number;
  /** Number of files that were renamed back, are missing or reappeared. */
  readonly changedNames: number;
  /** Number of files with a reverted size. */
  readonly changedSizes: number;
}

type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number };

/** Contents of a file, independent of its names. */
class Contents {
  /** Synced content, which is certain. */
  durable: Buffer;
  /** Later changes in chronological order. */
  unsynced: Change[] = [];

  constructor(durable: Buffer) {
    this.durable = durable;
  }

  commit(count: number): void {
    this.durable = apply(this.durable, this.unsynced.slice(0, count));
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
  /** Contents by current inode. */
  private byInode = new Map<number, Contents>();
  /** Synced names by directory, relative to the root. */
  private durableNames = new Map<string, Names>();
  private renames: Array<{ readonly from: string; readonly to: string }> = [];
  /** Files mapped for writing: their contents are unknown. */
  readonly mapped = new Set<string>();

  /**
   * Takes the existing contents below `root` as certain.
   * @param root existing directory, absolute and without symbolic links
   * @param log path of the shim's log
   */
  constructor(root: string, log: string) {
    this.root = root;
    this.log = log;
    this.reset();
  }

  /** Environment variables for the shim. */
  get environment(): Record<string, string> {
    return { FORGETFUL_ROOT: this.root, FORGETFUL_LOG: this.log };
  }

  /**
   * Keeps everything, as without a power loss. Processes the log first. A thread that was killed within a write has
   * completed it without a log entry: that write is added, as the next program reads it and builds on it.
   */
  keepAll(): void {
    this.processLog();
    for (const [folder, names] of this.currentNames()) {
      for (const [name, entry] of names) {
        if (!(entry instanceof Contents)) continue;
        const known = apply(entry.durable, entry.unsynced);
        entry.unsynced.push(...differences(known, readFileSync(join(this.root, folder, name))));
      }
    }
  }

  /** Processes new log records; the program must have exited. */
  processLog(): void {
    const openSyncs = new Map<number, { readonly contents: Contents; readonly count: number }>();
    for (const record of readRecords(readLog(this.log))) this.processRecord(record, openSyncs);
    truncateLog(this.log);
  }

  /**
   * Simulates a power loss: reduces the files below the root to a possible outcome, and takes it as certain. Processes
   * the log first.
   * @param random decides the outcome of "torn"
   */
  losePower(mode: LossMode, random: SeededRandom): Loss {
    this.processLog();
    const { files, folders, loss } = this.outcome(mode, random);
    for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true, force: true });
    write(this.root, files, folders);
    this.reset();
    return loss;
  }

  /** Writes a possible outcome of a power loss to a new directory; the root is unchanged. Processes the log first. */
  writePossibleOutcome(directory: string, mode: LossMode, random: SeededRandom): Loss {
    this.processLog();
    const { files, folders, loss } = this.outcome(mode, random);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    write(directory, files, folders);
    return loss;
  }

  /** Counts the uncertain bytes of a file: all of them if the name is uncertain. Processes the log first. */
  uncertainBytes(path: string): number {
    this.processLog();
    const folder = dirname(path) === "." ? "" : dirname(path);
    const entry = this.currentNames().get(folder)?.get(basename(path));
    if (!(entry instanceof Contents)) return 0;
    if (this.durableNames.get(folder)?.get(basename(path)) !== entry) return statSync(join(this.root, path)).size;
    return entry.unsynced.reduce((sum, change) => sum + ("bytes" in change ? change.bytes.length : 0), 0);
  }

  /** Files whose contents the log does not explain: none unless the shim missed a call. Processes the log first. */
  unexplained(): string[] {
    this.processLog();
    const paths: string[] = [];
    for (const [folder, names] of this.currentNames()) {
      for (const [name, entry] of names) {
        if (
          entry instanceof Contents &&
          !apply(entry.durable, entry.unsynced).equals(readFileSync(join(this.root, folder, name)))
        )
          paths.push(join(folder, name));
      }
    }
    return paths;
  }

  private reset(): void {
    this.byInode = new Map();
    this.durableNames = new Map();
    this.renames = [];
    this.durableNames = this.currentNames((path) => new Contents(readFileSync(path)));
    truncateLog(this.log);
  }

  private processRecord(record: DiskRecord, openSyncs: Map<number, { contents: Contents; count: number }>): void {
    const { type, inode, bytes } = record;
    switch (type) {
      case RECORD.write:
        this.contentsOf(inode).unsynced.push({ offset: record.offset, bytes: Buffer.from(bytes) });
        return;
      case RECORD.truncate:
        this.contentsOf(inode).unsynced.push({ size: record.offset });
        return;
      case RECORD.begin: {
        const contents = this.contentsOf(inode);
        // The file was written without the shim.
        const hasDiverged =
          (record.flags & IS_COMPLETE) !== 0 && !apply(contents.durable, contents.unsynced).equals(bytes);
        if (hasDiverged) contents.unsynced.push({ size: 0 }, { offset: 0, bytes: Buffer.from(bytes) });
        openSyncs.set(record.sync, { contents, count: contents.unsynced.length });
        return;
      }
      case RECORD.end:
        this.commit(openSyncs, record.sync);
        return;
      case RECORD.listing:
        this.commitNames(textsOf(bytes));
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
        // The file was created without the shim, with a reused inode.
        const contents = this.contentsOf(inode);
        if (record.offset === 0 && apply(contents.durable, contents.unsynced).length > 0)
          this.byInode.set(inode, new Contents(Buffer.alloc(0)));
        return;
      }
      case RECORD.map:
        this.mapped.add(relative(this.root, textsOf(bytes)[0] ?? ""));
        return;
    }
  }

  private commit(openSyncs: Map<number, { contents: Contents; count: number }>, sync: number): void {
    const first = openSyncs.get(sync);
    if (first === undefined) throw new Error(`the disk's log has the end of sync ${sync}, but not its start`);
    openSyncs.delete(sync);
    const { contents, count } = first;
    // Syncs of one file may overlap: another one may have committed a part already.
    const remaining = Math.max(0, Math.min(count, contents.unsynced.length));
    contents.commit(remaining);
    for (const open of openSyncs.values())
      if (open.contents === contents) Object.assign(open, { count: Math.max(0, open.count - remaining) });
  }

  private commitNames([folder = "", ...entries]: string[]): void {
    const names: Names = new Map();
    for (const entry of entries) {
      const [, inode = "", type = "", name = ""] = /^(\d+) (.) (.*)$/s.exec(entry) ?? [];
      if (!name.endsWith("-shm")) names.set(name, type === "d" ? FOLDER : this.contentsOf(Number(inode)));
    }
    const path = relative(this.root, folder);
    this.durableNames.set(path, names);
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

  /** Reads the current names by directory. */
  private currentNames(
    newContents: (path: string) => Contents = () => new Contents(Buffer.alloc(0)),
  ): Map<string, Names> {
    const found = new Map<string, Names>();
    const visit = (folder: string) => {
      const names: Names = new Map();
      found.set(folder, names);
      for (const name of readdirSync(join(this.root, folder)).sort()) {
        const path = join(this.root, folder, name);
        const status = lstatSync(path);
        if (status.isDirectory()) {
          names.set(name, FOLDER);
          visit(join(folder, name));
        } else if (!name.endsWith("-shm")) {
          if (!this.byInode.has(status.ino)) this.byInode.set(status.ino, newContents(path));
          names.set(name, this.contentsOf(status.ino));
        }
      }
    };
    visit("");
    return found;
  }

  private outcome(mode: LossMode, random: SeededRandom): { files: Map<string, Buffer>; folders: string[]; loss: Loss } {
    const currentNames = this.currentNames();
    const loss = { unsyncedBytes: 0, droppedBytes: 0, changedNames: 0, changedSizes: 0 };
    const chosenContents = new Map<Contents, Buffer>();
    const files = new Map<string, Buffer>();
    const folders: string[] = [];
    const addFolder = (folder: string) => {
      const [old, current] = [
        this.durableNames.get(folder) ?? new Map<string, Entry>(),
        currentNames.get(folder) ?? new Map<string, Entry>(),
      ];
      const isNew = this.newNames(folder, new Set([...old.keys(), ...current.keys()]), mode, random);
      for (const name of [...new Set([...old.keys(), ...current.keys()])].sort()) {
        const entry = isNew(name) ? current.get(name) : old.get(name);
        if (entry !== current.get(name)) loss.changedNames += 1;
        const path = join(folder, name);
        if (entry instanceof Contents) {
          const content = chosenContents.get(entry) ?? survivingContents(entry, mode, random, loss);
          chosenContents.set(entry, content);
          files.set(path, content);
        } else if (entry !== undefined) {
          folders.push(path);
          addFolder(path);
        }
      }
    };
    addFolder("");
    return { files, folders, loss };
  }

  /** Chooses the names of a directory that are up to date; both names of a rename together. */
  private newNames(
    folder: string,
    names: ReadonlySet<string>,
    mode: LossMode,
    random: SeededRandom,
  ): (name: string) => boolean {
    const chosen = new Map(
      [...names].sort().map((name) => [name, mode === "kept" || (mode === "torn" && random.integer(2) === 1)]),
    );
    for (const { from, to } of this.renames) {
      const [oldName, newName] = [relative(folder, from), relative(folder, to)];
      if (chosen.has(oldName) && chosen.has(newName)) chosen.set(oldName, chosen.get(newName) === true);
    }
    return (name) => chosen.get(name) === true;
  }
}

/** Chooses the contents of a file after a power loss. */
function survivingContents(
  contents: Contents,
  mode: LossMode,
  random: SeededRandom,
  loss: { unsyncedBytes: number; droppedBytes: number; changedSizes: number },
): Buffer {
  const { durable, unsynced } = contents;
  for (const change of unsynced) if ("bytes" in change) loss.unsyncedBytes += change.bytes.length;
  if (unsynced.length === 0) return durable;
  const complete = apply(durable, unsynced);
  if (mode === "kept") return complete;
  const remaining = mode === "dropped" ? durable : tornContents(contents, random);
  for (let offset = 0; offset < Math.max(complete.length, remaining.length); offset += SECTOR_BYTES) {
    if (!complete.subarray(offset, offset + SECTOR_BYTES).equals(remaining.subarray(offset, offset + SECTOR_BYTES)))
      loss.droppedBytes += SECTOR_BYTES;
  }
  if (remaining.length !== complete.length) loss.changedSizes += 1;
  return remaining;
}

const SECTOR_BYTES = 512;
const PAGE_BYTES = 4_096;

/**
 * Chooses torn contents. The size is that after any one change. A truncated file gets other blocks when it grows again,
 * so nothing remains from before the last included truncation, nor from after the first excluded one. In between, each
 * block is as after any one of its changes.
 */
function tornContents({ durable, unsynced }: Contents, random: SeededRandom): Buffer {
  const blockBytes = random.pick([SECTOR_BYTES, PAGE_BYTES]);
  /** Probability, in eighths, that a block has its last content. */
  const bias = random.pick([1, 4, 7]);
  const arrivedCount = random.integer(unsynced.length + 1);
  let first = 0;
  let last = unsynced.length;
  let size = durable.length;
  for (const [index, change] of unsynced.entries()) {
    const isCut = "size" in change && change.size < size;
    if (isCut && index < arrivedCount) first = index + 1;
    if (isCut && index >= arrivedCount) {
      last = index;
      break;
    }
    if (index < arrivedCount)
      size = "size" in change ? change.size : Math.max(size, change.offset + change.bytes.length);
  }
  const remaining = Buffer.alloc(size);
  apply(durable, unsynced.slice(0, first)).copy(remaining);
  /** Writes by block, in chronological order. */
  const writes = new Map<number, Array<{ readonly offset: number; readonly bytes: Buffer }>>();
  for (const change of unsynced.slice(first, last)) {
    if ("size" in change) continue;
    for (
      let block = Math.floor(change.offset / blockBytes);
      block * blockBytes < change.offset + change.bytes.length;
      block += 1
    ) {
      const blockWrites = writes.get(block);
      if (blockWrites === undefined) writes.set(block, [change]);
      else blockWrites.push(change);
    }
  }
  for (const [block, changes] of writes) {
    const count = random.integer(8) < bias ? changes.length : random.integer(changes.length + 1);
    const [start, end] = [block * blockBytes, Math.min((block + 1) * blockBytes, size)];
    for (const { offset, bytes } of changes.slice(0, count)) {
      const [from, to] = [Math.max(start, offset), Math.min(end, offset + bytes.length)];
      if (from < to) bytes.copy(remaining, from, from - offset, to - offset);
    }
  }
  return remaining;
}

/** Finds the changes, in sectors, that turn one content into another. */
function differences(before: Buffer, after: Buffer): Change[] {
  if (before.equals(after)) return [];
  const changes: Change[] = before.length === after.length ? [] : [{ size: after.length }];
  for (let offset = 0; offset < after.length; offset += SECTOR_BYTES) {
    const bytes = after.subarray(offset, offset + SECTOR_BYTES);
    const isUnchanged =
      before.length >= offset + bytes.length && bytes.equals(before.subarray(offset, offset + bytes.length));
    if (!isUnchanged) changes.push({ offset, bytes });
  }
  return changes;
}

function apply(durable: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return durable;
  let [size, capacity] = [durable.length, durable.length];
  for (const change of changes) {
    size = "size" in change ? change.size : Math.max(size, change.offset + change.bytes.length);
    capacity = Math.max(capacity, size);
  }
  const result = Buffer.alloc(capacity);
  durable.copy(result);
  let length = durable.length;
  for (const change of changes) {
    if ("size" in change) {
      if (change.size < length) result.fill(0, change.size, length);
      length = change.size;
    } else {
      change.bytes.copy(result, change.offset);
      length = Math.max(length, change.offset + change.bytes.length);
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
