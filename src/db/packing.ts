// Delta encoding of versions in the ledger: whole, or as the difference from an earlier whole version of the same
// record, its base. Most of a version equals its predecessor. A base is always whole, so one lookup suffices, and is on
// the same or a nearby page. Hashes cover the unpacked text, so the chain does not depend on the packing.

/** Text of a version as hashed and served. */
export interface VersionTexts {
  /** The record's own fields as JSON object members, without the braces. */
  readonly members: string;
  readonly observed: string;
  readonly sort_keys: string | null;
}

/** A whole version that others can be packed against. */
export interface BaseVersion extends VersionTexts {
  readonly sequence: number;
}

/** Row content of a packed version. */
export interface PackedTexts extends VersionTexts {
  /** The base's sequence, and the number of base bytes before and after these members: 31, 16 and 16 bits. */
  readonly patch: bigint;
}

/** The differing text, and the number of base bytes around it. */
interface Difference {
  readonly members: string;
  readonly before: number;
  readonly after: number;
}

/**
 * Maximum number of versions per base. Bounds the walk back when writing the next version, and the page distance to the
 * base.
 */
export const VERSIONS_PER_BASE = 16;

/** Bit layout of the `patch` column: the base's sequence, the bytes before, and in the lowest bits the bytes after. */
const BASE_SHIFT = 32;
const BEFORE_SHIFT = 16;
const COUNT_MAX = 2 ** BEFORE_SHIFT - 1;

/** Members end in the version's own timestamp, twice. It has its own column, so the packed form omits it. */
const tailOf = (validFrom: string) => `,"updated_at":"${validFrom}","valid_from":"${validFrom}"`;
const TAIL_LENGTH = tailOf("2026-01-01T00:00:00.000Z").length;

/** Names that indexes of history_versions match in whole members (0026). A base and its versions must agree on them. */
const INDEXED_NAMES = ['"ip_address":"', '"stale_since":'] as const;
const INDEXED = /"ip_address":"[^"]*"|"stale_since":/g;

/**
 * Packs a version against a base.
 * @param validFrom the version's timestamp in wire format
 * @returns null if the version must stay whole: it differs too much, or in an indexed name
 */
export function packVersion(base: BaseVersion, version: VersionTexts, validFrom: string): PackedTexts | null {
  if (!version.members.endsWith(tailOf(validFrom)) || base.members.length < TAIL_LENGTH) return null;
  // An absent text means the base's.
  if (version.observed === "" && base.observed !== "") return null;
  if (version.sort_keys === null && base.sort_keys !== null) return null;
  const difference = differenceOf(base.members, version.members);
  if (difference === null || difference.members.length > (version.members.length - TAIL_LENGTH) / 2) return null;
  if (INDEXED_NAMES.some((name) => difference.members.includes(name))) return null;
  if (indexedIn(base.members) !== indexedIn(version.members)) return null;
  const { members, before, after } = difference;
  return {
    members,
    patch: (BigInt(base.sequence) << BigInt(BASE_SHIFT)) | BigInt(before * 2 ** BEFORE_SHIFT + after),
    observed: version.observed === base.observed ? "" : version.observed,
    sort_keys: version.sort_keys === base.sort_keys ? null : version.sort_keys,
  };
}

/** SQL for the sequence of the base of row `version`; NULL for a whole version. */
export function baseSequenceSql(version: string): string {
  return `(${version}.patch >> ${BASE_SHIFT})`;
}

type Column = "members" | "observed" | "sort_keys";

/** SQL for a text column of row `version` of history_versions, unpacked. Valid only where the row has that name. */
export function writtenSql(version: string, column: Column): string {
  return `CASE WHEN ${version}.patch IS NULL THEN ${version}.${column} ELSE (SELECT ${packedSql(version, column)}
    FROM history_versions ${BASE} WHERE ${isBaseSql(version)}) END`;
}

/** Join for the base of row `version`, needed by joinedSql. A fifth faster than a subquery per base. */
export function baseJoinSql(version: string): string {
  return ` LEFT JOIN history_versions ${BASE} ON ${isBaseSql(version)}`;
}

/** As writtenSql, with the base joined. */
export function joinedSql(version: string, column: Column): string {
  return `CASE WHEN ${version}.patch IS NULL THEN ${version}.${column} ELSE ${packedSql(version, column)} END`;
}

/**
 * Concatenates the members and the text after them once, with the base joined. Not valid for deletions.
 * @param before SQL of the text before the members
 * @param after SQL of the text after them; the argument says whether the version is packed
 */
export function joinedTextSql(
  version: string,
  before: string,
  after: (isPacked: boolean) => readonly string[],
): string {
  const whole = [before, `${version}.members`, ...after(false)].join(", ");
  const packed = [before, memberParts(version), ...after(true)].join(", ");
  return `CASE WHEN ${version}.patch IS NULL THEN concat(${whole}) ELSE concat(${packed}) END`;
}

/** SQL for the observation values of a version known to be packed or whole, with the base joined. */
export function joinedObservedSql(version: string, isPacked: boolean): string {
  return isPacked ? packedSql(version, "observed") : `${version}.observed`;
}

const BASE = "base_of";

function isBaseSql(version: string): string {
  return `${BASE}.key = (((${version}.key >> 31) << 31) | ${baseSequenceSql(version)})`;
}

/** For packed versions only. */
function packedSql(version: string, column: Column): string {
  if (column === "members") return `concat(${memberParts(version)})`;
  return column === "observed"
    ? `CASE ${version}.observed WHEN '' THEN ${BASE}.observed ELSE ${version}.observed END`
    : `coalesce(${version}.sort_keys, ${BASE}.sort_keys)`;
}

/** Slices as bytes: SQLite cuts a BLOB without scanning each character. */
function memberParts(version: string): string {
  const bytes = `CAST(${BASE}.members AS BLOB)`;
  const before = `((${version}.patch >> ${BEFORE_SHIFT}) & ${COUNT_MAX})`;
  const after = `(${version}.patch & ${COUNT_MAX})`;
  const instant = `${version}.valid_from`;
  return `substr(${bytes}, 1, ${before}), ${version}.members,
    substr(${bytes}, -(${after} + ${TAIL_LENGTH}), ${after}),
    ',"updated_at":"', ${instant}, '","valid_from":"', ${instant}, '"'`;
}

/** The text between the longest common prefix and suffix of two strings, apart from their tails. */
function differenceOf(base: string, text: string): Difference | null {
  if (Buffer.byteLength(base) !== base.length || Buffer.byteLength(text) !== text.length)
    return differenceOfBytes(Buffer.from(base), Buffer.from(text));
  const end = text.length - TAIL_LENGTH;
  const baseEnd = base.length - TAIL_LENGTH;
  const limit = Math.min(end, baseEnd);
  let before = 0;
  while (before < limit && base.charCodeAt(before) === text.charCodeAt(before)) before += 1;
  let after = 0;
  while (after < limit - before && base.charCodeAt(baseEnd - 1 - after) === text.charCodeAt(end - 1 - after))
    after += 1;
  return before > COUNT_MAX || after > COUNT_MAX ? null : { before, after, members: text.slice(before, end - after) };
}

function differenceOfBytes(base: Buffer, text: Buffer): Difference | null {
  const end = text.length - TAIL_LENGTH;
  const baseEnd = base.length - TAIL_LENGTH;
  const limit = Math.min(end, baseEnd);
  let before = 0;
  while (before < limit && base[before] === text[before]) before += 1;
  let after = 0;
  while (after < limit - before && base[baseEnd - 1 - after] === text[end - 1 - after]) after += 1;
  // The difference must be valid UTF-8, so move both cuts to character boundaries.
  while (before > 0 && isContinuation(text[before])) before -= 1;
  while (after > 0 && isContinuation(text[end - after])) after -= 1;
  return before > COUNT_MAX || after > COUNT_MAX
    ? null
    : { before, after, members: text.toString("utf8", before, end - after) };
}

/** For UTF-8 (RFC 3629). */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function indexedIn(members: string): string {
  return INDEXED_NAMES.some((name) => members.includes(name)) ? (members.match(INDEXED)?.join() ?? "") : "";
}
