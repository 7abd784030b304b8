// Conditional requests (RFC 9110 section 13) with strong entity tags derived from record versions.

import { DomainError } from "../base/errors.ts";

/** Unique identification of a record version. */
export interface TaggedVersion {
  /** The transaction that wrote it. */
  readonly sequence: number;
  /** Start of that transaction's hash: after a backup is restored, another transaction may have the same sequence. */
  readonly hashPrefix: string;
}

/**
 * The entity tag of a version. The part after the first dot identifies its representation and is ignored by writes.
 * @param shape number of the record schema: a netledger with more fields represents the same version differently
 * @param ended distinguishes a past version from the same one when it was the newest
 * @param view text of the response, if it can differ without a new version: its hash distinguishes such responses
 */
export function entityTag(
  { sequence, hashPrefix }: TaggedVersion,
  { shape = 1, ended = false, view = null }: { shape?: number; ended?: boolean; view?: string | null } = {},
): string {
  const suffixes = [...(shape === 1 ? [] : [`s${shape}`]), ...(view === null ? [] : [Bun.hash(view).toString(36)])];
  return `"${[`${sequence}-${hashPrefix}${ended ? "-ended" : ""}`, ...suffixes].join(".")}"`;
}

/** Content codings of responses, best first. */
export const CODINGS = ["zstd", "gzip"] as const;
export type Coding = (typeof CODINGS)[number];

/** The tag of the same version in a coding: different bytes need a different strong tag (RFC 9110 section 8.8.1). */
export function codedTag(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}.${coding}"`;
}

/** Whether If-None-Match names this version in any coding, which means 304. */
export function isNotModified(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || tags(header).some((each) => each.replace(/^W\//, "").replace(CODED, '"') === tag);
}

const CODED = new RegExp(`\\.(?:${CODINGS.join("|")})"$`);

/**
 * If-Match. @throws DomainError precondition_failed unless it is absent, `*`, or names the version (strong comparison)
 */
export function assertVersion(header: string | null | undefined, version: TaggedVersion): void {
  if (header === undefined || header === null || header.trim() === "*") return;
  const tag = entityTag(version);
  // In any representation, including that of an older netledger.
  const prefix = `${tag.slice(0, -1)}.`;
  // Writes depend on the version alone, whatever else the response contained.
  if (!tags(header).some((each) => each === tag || each.startsWith(prefix))) {
    const isWeak = tags(header).some((each) => each === `W/${tag}` || each.startsWith(`W/${prefix}`));
    const sentence = isWeak
      ? "If-Match needs a strong entity tag: send it without W/, as in the response to the GET."
      : "The record has changed since the version in If-Match; read it again.";
    throw new DomainError("precondition_failed", sentence, { expected: header.slice(0, 200), actual: tag });
  }
}

/**
 * `If-None-Match: *` on a write requires that nothing exists yet (RFC 9110 section 13.1.2), but PUT and DELETE here
 * only apply to existing records.
 * @throws DomainError precondition_failed
 */
export function assertMayExist(request: Request): void {
  const header = request.method === "PUT" || request.method === "DELETE" ? request.headers.get("if-none-match") : null;
  if (header?.trim() === "*")
    throw new DomainError("precondition_failed", "If-None-Match: * does not allow changing an existing record.", {
      expected: "*",
      actual: null,
    });
}

function tags(header: string): string[] {
  return header.split(",").map((each) => each.trim());
}
