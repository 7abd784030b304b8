// Plan token of a draft, which changes whenever the plan would do anything else. Read-only.

import type { RecordBase } from "../../db/kind.ts";
import { dependsOnReach } from "../../records/disclosed-fields.ts";
import { isWritten, type RestoreDraft, SET_BY_WRITE } from "./draft.ts";
import type { CoverageChanges } from "./draft-coverage.ts";
import type { Plan } from "./plan.ts";

/**
 * Hashes the reported plan, and each record to be written with its current version and new content. Includes changes
 * that no plan shows, such as secrets, whose version has a change time. Excludes data beyond the caller's reach, which
 * could otherwise be guessed by comparison.
 */
export function draftToken(
  draft: RestoreDraft,
  { actions, conflicts }: Plan,
  coverage: CoverageChanges,
  hasFullReach: boolean,
): string {
  const hasher = new Bun.CryptoHasher("sha256").update(JSON.stringify([actions, conflicts, coverage]));
  for (const drafted of draft.all) {
    if (!isWritten(drafted)) continue;
    const { kind, id, before, after } = drafted;
    const isIncluded = (field: string) => !SET_BY_WRITE.has(field) && (hasFullReach || !dependsOnReach(kind, field));
    hasher.update(`\n${id} ${before?.updated_at} ${after === null ? null : serialize(after, isIncluded)}`);
  }
  return hasher.digest("hex");
}

function serialize(record: RecordBase, isIncluded: (field: string) => boolean): string {
  return JSON.stringify(Object.entries(record).filter(([field]) => isIncluded(field)));
}
