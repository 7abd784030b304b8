// Reader for the shim's log records (layout: scripts/proof/shim/forgetful-disk.c). Does not interpret them.

/** Record types, numbered as in the shim. */
export const RECORD = {
  write: 1,
  truncate: 2,
  begin: 3,
  end: 4,
  listing: 5,
  rename: 6,
  unlink: 7,
  create: 8,
  open: 9,
  map: 10,
  refused: 11,
} as const;

/** Flag of `begin`: the bytes are the entire file. */
export const IS_COMPLETE = 1;

export interface DiskRecord {
  readonly type: number;
  readonly inode: number;
  readonly offset: number;
  readonly sync: number;
  readonly flags: number;
  readonly bytes: Buffer;
}

const MAGIC = 0x4b534944;
const MAGIC_BYTES = Buffer.from([0x44, 0x49, 0x53, 0x4b]);
const HEAD_BYTES = 40;

/** Reads all complete records: a kill may truncate a thread's last one, whose operation was not done or not synced. */
export function* readRecords(log: Buffer): Generator<DiskRecord> {
  for (let position = 0; position < log.length; ) {
    const end = endOf(log, position);
    if (end === null) {
      const next = log.indexOf(MAGIC_BYTES, position + 1);
      if (next === -1) return;
      position = next;
      continue;
    }
    yield {
      type: log.readUInt32LE(position + 4),
      inode: Number(log.readBigUInt64LE(position + 8)),
      offset: Number(log.readBigUInt64LE(position + 16)),
      sync: log.readUInt32LE(position + 32),
      flags: log.readUInt32LE(position + 36),
      bytes: log.subarray(position + HEAD_BYTES, end),
    };
    position = end;
  }
}

/** Finds the end of a complete record, followed by another record or the end of the log; null if there is none. */
function endOf(log: Buffer, position: number): number | null {
  if (position + HEAD_BYTES > log.length || log.readUInt32LE(position) !== MAGIC) return null;
  const end = position + HEAD_BYTES + Number(log.readBigUInt64LE(position + 24));
  if (end > log.length) return null;
  return log.length - end < MAGIC_BYTES.length || log.readUInt32LE(end) === MAGIC ? end : null;
}

/** Splits the NUL-terminated strings of a record with paths or a listing. */
export function textsOf(bytes: Buffer): string[] {
  return bytes.toString("utf8").split("\0").slice(0, -1);
}
