// Ignore entry removal for records that a user restores: the entries would keep discovery from recreating them.
// Read-only.

import type { RecordBase } from "../../db/kind.ts";
import { type IgnoredRecord, ignoredKind, isIgnorable } from "../../resources/ignored/ignored.ts";
import type { RestoreDraft } from "./draft.ts";

/** Drafts the removal of ignore entries for restored records. Run after all restored records are drafted. */
export function removeIgnoreEntries(draft: RestoreDraft): void {
  const revived = draft.all.filter(
    ({ kind, before, after }) => before === null && after !== null && isIgnorable(kind.name),
  );
  if (revived.length === 0) return;
  const ids = new Set(revived.map(({ id }) => id));
  for (const drafted of draft.all) {
    if (
      drafted.kind.code === ignoredKind.code &&
      drafted.after !== null &&
      ids.has((drafted.after as IgnoredRecord).record_id)
    ) {
      drafted.after = null;
      drafted.reasons.add(REASON);
    }
  }
  for (const networkId of new Set(
    revived.map(({ after }) => (after as RecordBase & { readonly network_id: string }).network_id),
  )) {
    for (const record of draft.tx.children(ignoredKind, "network_n", networkId)) {
      if (!ids.has(record.record_id) || draft.get(record.id) !== null) continue;
      draft.put({ kind: ignoredKind, before: record, after: null, subject: record, isPart: true, reason: REASON });
    }
  }
}

const REASON = "the ignored record is restored";
