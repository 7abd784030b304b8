// What stands for the plan of a draft: another one where anything else would be done. Must not write.

import type { RecordBase } from "../../db/kind.ts";
import { isFieldOfReach } from "../../records/told-fields.ts";
import { isWritten, OF_THE_WRITE, type RestoreDraft } from "./draft.ts";
import type { CoverageChanges } from "./draft-coverage.ts";
import type { Planned } from "./plan.ts";

/**
 * By what is told of the plan, and of each record that would be written, by the version that is there and what is put in
 * its place: also of what no plan tells, such as secrets, of which a version says when they changed. What lies beyond the
 * caller's reach is no part of it, or guesses at that could be compared with it.
 */
export function draftToken(
  draft: RestoreDraft,
  { actions, conflicts }: Planned,
  coverage: CoverageChanges,
  isAllReached: boolean,
): string {
  const hasher = new Bun.CryptoHasher("sha256").update(JSON.stringify([actions, conflicts, coverage]));
  for (const drafted of draft.all) {
    if (!isWritten(drafted)) continue;
    const { kind, id, before, after } = drafted;
    const isSaid = (field: string) => !OF_THE_WRITE.has(field) && (isAllReached || !isFieldOfReach(kind, field));
    hasher.update(`\n${id} ${before?.updated_at} ${after === null ? null : said(after, isSaid)}`);
  }
  return hasher.digest("hex");
}

function said(record: RecordBase, isSaid: (field: string) => boolean): string {
  return JSON.stringify(Object.entries(record).filter(([field]) => isSaid(field)));
}
