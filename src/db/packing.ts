// How versions lie in the ledger: whole, or as what differs from an earlier one of the same record, its base. Nearly all
// of a version is equal to the one before. A base is always whole, so that one look at it is enough, and lies on the same
// page or near. Hashes are of the whole texts: how a version is packed is nothing that the chain proves.

/** The texts of a version as they are hashed and answered. */
export interface WholeTexts {
  /** The record's own fields as the inside of a JSON object. */
  readonly members: string;
  readonly observed: string;
  readonly sort_keys: string | null;
}

/** A whole version that others may lie beside. */
export interface BaseVersion extends WholeTexts {
  readonly sequence: number;
}

/** What a version's row holds where it lies beside its base. */
export interface PackedTexts extends WholeTexts {
  /** The base's sequence, and how many bytes of its members stand before and after these: 31, 16 and 16 bits. */
  readonly patch: bigint;
}

/** What differs, and how many bytes of the base stand around it. */
interface Difference {
  readonly members: string;
  readonly before: number;
  readonly after: number;
}

/**
 * Versions of a record that may follow a base before there is another one: what lies between is walked through when the
 * next is written, and is what a page may be away from its base.
 */
export const VERSIONS_PER_BASE = 16;

/** Where the parts of the column `patch` lie: the base's sequence, the bytes before, and below them those after. */
const BASE_SHIFT = 32;
const BEFORE_SHIFT = 16;
const COUNT_MAX = 2 ** BEFORE_SHIFT - 1;

/** Members end in the version's own instant, twice, which has a column of its own. */
const tailOf = (validFrom: string) => `,"updated_at":"${validFrom}","valid_from":"${validFrom}"`;
const TAIL_LENGTH = tailOf("2026-01-01T00:00:00.000Z").length;

/** What indexes of history_versions find in whole members (0026): of a base's versions all say the same, and none again. */
const INDEXED_NAMES = ['"ip_address":"', '"stale_since":'] as const;
const INDEXED = /"ip_address":"[^"]*"|"stale_since":/g;

/**
 * A version as what differs from a base.
 * @param validFrom the version's instant, as documents say it
 * @returns null where it is to be kept whole: it differs in much, or in what whole versions are found by
 */
export function packVersion(base: BaseVersion, version: WholeTexts, validFrom: string): PackedTexts | null {
  if (!version.members.endsWith(tailOf(validFrom)) || base.members.length < TAIL_LENGTH) return null;
  // An absent text is the base's.
  if (version.observed === "" && base.observed !== "") return null;
  if (version.sort_keys === null && base.sort_keys !== null) return null;
  const difference = differing(base.members, version.members);
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

/** As SQL: the sequence of the base that the row `version` lies beside; NULL for a whole one. */
export function baseSequenceSql(version: string): string {
  return `(${version}.patch >> ${BASE_SHIFT})`;
}

type Column = "members" | "observed" | "sort_keys";

/**
 * A text of the row `version` of history_versions as it was written, unpacked: it may only stand where the row is read
 * by that name.
 */
export function writtenSql(version: string, column: Column): string {
  return `CASE WHEN ${version}.patch IS NULL THEN ${version}.${column} ELSE (SELECT ${packedSql(version, column)}
    FROM history_versions ${BASE} WHERE ${isBaseSql(version)}) END`;
}

/** The table to join behind the row `version` for joinedSql: a fifth faster than looking for each base by itself. */
export function baseJoinSql(version: string): string {
  return ` LEFT JOIN history_versions ${BASE} ON ${isBaseSql(version)}`;
}

/** As writtenSql, where the base is joined. */
export function joinedSql(version: string, column: Column): string {
  return `CASE WHEN ${version}.patch IS NULL THEN ${version}.${column} ELSE ${packedSql(version, column)} END`;
}

/**
 * Members and what follows them in one text, which is put together once, where the base is joined. Not of a deletion.
 * @param before SQL of the text before them
 * @param after of those behind them, told whether the version is packed
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

/** The observation values of a version of which it is known whether it is packed, where the base is joined. */
export function joinedObservedSql(version: string, isPacked: boolean): string {
  return isPacked ? packedSql(version, "observed") : `${version}.observed`;
}

const BASE = "base_of";

function isBaseSql(version: string): string {
  return `${BASE}.key = (((${version}.key >> 31) << 31) | ${baseSequenceSql(version)})`;
}

/** Of a packed version. */
function packedSql(version: string, column: Column): string {
  if (column === "members") return `concat(${memberParts(version)})`;
  return column === "observed"
    ? `CASE ${version}.observed WHEN '' THEN ${BASE}.observed ELSE ${version}.observed END`
    : `coalesce(${version}.sort_keys, ${BASE}.sort_keys)`;
}

/** As bytes, a text is cut without looking at each of its characters. */
function memberParts(version: string): string {
  const bytes = `CAST(${BASE}.members AS BLOB)`;
  const before = `((${version}.patch >> ${BEFORE_SHIFT}) & ${COUNT_MAX})`;
  const after = `(${version}.patch & ${COUNT_MAX})`;
  const instant = `${version}.valid_from`;
  return `substr(${bytes}, 1, ${before}), ${version}.members,
    substr(${bytes}, -(${after} + ${TAIL_LENGTH}), ${after}),
    ',"updated_at":"', ${instant}, '","valid_from":"', ${instant}, '"'`;
}

/** What lies between the longest beginning and the longest end that two texts have in common, but for their tails. */
function differing(base: string, text: string): Difference | null {
  if (Buffer.byteLength(base) !== base.length || Buffer.byteLength(text) !== text.length)
    return differingBytes(Buffer.from(base), Buffer.from(text));
  const end = text.length - TAIL_LENGTH;
  const baseEnd = base.length - TAIL_LENGTH;
  const most = Math.min(end, baseEnd);
  let before = 0;
  while (before < most && base.charCodeAt(before) === text.charCodeAt(before)) before += 1;
  let after = 0;
  while (after < most - before && base.charCodeAt(baseEnd - 1 - after) === text.charCodeAt(end - 1 - after)) after += 1;
  return before > COUNT_MAX || after > COUNT_MAX ? null : { before, after, members: text.slice(before, end - after) };
}

function differingBytes(base: Buffer, text: Buffer): Difference | null {
  const end = text.length - TAIL_LENGTH;
  const baseEnd = base.length - TAIL_LENGTH;
  const most = Math.min(end, baseEnd);
  let before = 0;
  while (before < most && base[before] === text[before]) before += 1;
  let after = 0;
  while (after < most - before && base[baseEnd - 1 - after] === text[end - 1 - after]) after += 1;
  // What is between has to be a text of its own: it neither begins nor ends within a character.
  while (before > 0 && isContinuation(text[before])) before -= 1;
  while (after > 0 && isContinuation(text[end - after])) after -= 1;
  return before > COUNT_MAX || after > COUNT_MAX
    ? null
    : { before, after, members: text.toString("utf8", before, end - after) };
}

/** Of UTF-8 (RFC 3629). */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function indexedIn(members: string): string {
  return INDEXED_NAMES.some((name) => members.includes(name)) ? (members.match(INDEXED)?.join() ?? "") : "";
}
