// Conditional requests (RFC 9110 section 13) over strong entity tags that name a record's version.

import { DomainError } from "../base/errors.ts";

/** What tells a version of a record from all others. */
export interface TaggedVersion {
  /** The transaction that wrote it. */
  readonly sequence: number;
  /** The beginning of that transaction's hash: where a backup was put back, another one may have got its sequence. */
  readonly mark: string;
}

/**
 * The entity tag of a version. What follows the first dot says how it was shown, and matters to no write.
 * @param shape numbers what records have: the same version is shown otherwise by a netledger that knows more fields
 * @param ended tells a version of the past from the same one while it was the newest
 * @param view the answer's text, where it can differ without a new version: its hash tells such answers apart
 */
export function entityTag(
  { sequence, mark }: TaggedVersion,
  { shape = 1, ended = false, view = null }: { shape?: number; ended?: boolean; view?: string | null } = {},
): string {
  const shown = [...(shape === 1 ? [] : [`s${shape}`]), ...(view === null ? [] : [Bun.hash(view).toString(36)])];
  return `"${[`${sequence}-${mark}${ended ? "-ended" : ""}`, ...shown].join(".")}"`;
}

/** The content codings of answers, the best first. */
export const CODINGS = ["zstd", "gzip"] as const;
export type Coding = (typeof CODINGS)[number];

/** The tag of the same version in a coding: another sequence of bytes has another strong tag (RFC 9110 section 8.8.1). */
export function codedTag(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}.${coding}"`;
}

/** Whether If-None-Match names this version, in whatever coding: then 304. */
export function isNotModified(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || tags(header).some((each) => each.replace(/^W\//, "").replace(CODED, '"') === tag);
}

const CODED = new RegExp(`\\.(?:${CODINGS.join("|")})"$`);

/** If-Match. @throws DomainError precondition_failed unless it is absent, `*`, or names the version (strong comparison) */
export function assertVersion(header: string | null | undefined, version: TaggedVersion): void {
  if (header === undefined || header === null || header.trim() === "*") return;
  const tag = entityTag(version);
  // However it was shown: also by a netledger of before a field.
  const beginning = `${tag.slice(0, -1)}.`;
  // The version is what a write builds on, whatever else the answer showed.
  if (!tags(header).some((each) => each === tag || each.startsWith(beginning))) {
    const isWeak = tags(header).some((each) => each === `W/${tag}` || each.startsWith(`W/${beginning}`));
    const sentence = isWeak
      ? "If-Match needs a strong entity tag: send it without W/, as in the answer of the GET."
      : "The record is no longer the version that If-Match names; read it again.";
    throw new DomainError("precondition_failed", sentence, { expected: header.slice(0, 200), actual: tag });
  }
}

/**
 * `If-None-Match: *` on a write asks for it only where there is nothing yet (RFC 9110 section 13.1.2): no PUT or DELETE
 * here is of that kind.
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
