// Writer command for bulk deletes: atomically deletes the listed records, each by the rules of its kind. Independent of
// kinds: each supplies its own command for one record.

import type { CommandActor } from "../access/actor.ts";
import { DomainError, referenceInvalid } from "../base/errors.ts";
import type { AnyKind } from "../db/kind.ts";
import { type BulkRemoval, markLongRunning, type Removal } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/**
 * Returns the command that deletes many records of a kind with `remove`. It throws the errors of `remove`, and
 * entity_reference_invalid listing every id outside the caller's reach.
 */
export function removeEach(
  kind: AnyKind,
  remove: (tx: WriteTransaction, input: Removal, actor: CommandActor) => unknown,
) {
  return markLongRunning((tx: WriteTransaction, input: BulkRemoval, actor: CommandActor): void => {
    const ids = [...new Set(input.ids)];
    const missing: string[] = [];
    for (const id of ids) {
      // Already removed by the cascade of an earlier record in the list.
      if (tx.wasRemoved(kind, id)) continue;
      try {
        remove(tx, { id, cascade: input.cascade, ignore: input.ignore }, actor);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== "entity_not_found") throw error;
        missing.push(id);
      }
    }
    if (missing.length > 0) throw referenceInvalid(kind, "ids", missing);
  });
}
