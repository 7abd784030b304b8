// Reader of the shim's log records (layout: scripts/proof/shim/forgetful-disk.c). Must not interpret them.

/** Numbers as in the shim. */
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

/** Flag of `begin`: its bytes are the whole file. */
export const IS_WHOLE = 1;

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

/** All complete records: a kill may truncate a thread's last append, whose operation was not done or not synced. */
export function* readRecords(log: Buffer): Generator<DiskRecord> {
  for (let at = 0; at < log.length; ) {
    const end = endOf(log, at);
    if (end === null) {
      const next = log.indexOf(MAGIC_BYTES, at + 1);
      if (next === -1) return;
      at = next;
      continue;
    }
    yield {
      type: log.readUInt32LE(at + 4),
      inode: Number(log.readBigUInt64LE(at + 8)),
      offset: Number(log.readBigUInt64LE(at + 16)),
      sync: log.readUInt32LE(at + 32),
      flags: log.readUInt32LE(at + 36),
      bytes: log.subarray(at + HEAD_BYTES, end),
    };
    at = end;
  }
}

/** End of a complete record, which another one or the end of the log must follow; null if there is none. */
function endOf(log: Buffer, at: number): number | null {
  if (at + HEAD_BYTES > log.length || log.readUInt32LE(at) !== MAGIC) return null;
  const end = at + HEAD_BYTES + Number(log.readBigUInt64LE(at + 24));
  if (end > log.length) return null;
  return log.length - end < MAGIC_BYTES.length || log.readUInt32LE(end) === MAGIC ? end : null;
}

/** NUL-terminated texts of a record of paths or of a listing. */
export function textsOf(bytes: Buffer): string[] {
  return bytes.toString("utf8").split("\0").slice(0, -1);
}
