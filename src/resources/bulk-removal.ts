// What the writer runs for a bulk-delete: every record of a list by its kind's own rules, all or none.
// Knows no kind: each names its own command for one record.

import type { CommandActor } from "../access/actor.ts";
import { DomainError, referenceInvalid } from "../base/errors.ts";
import type { AnyKind } from "../db/kind.ts";
import { type BulkRemoval, type Removal, takingLong } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/**
 * The command that deletes many records of a kind as `remove` deletes one.
 * It throws what `remove` throws, and entity_reference_invalid naming every id that the caller does not reach.
 */
export function removeEach(
  kind: AnyKind,
  remove: (tx: WriteTransaction, input: Removal, actor: CommandActor) => unknown,
) {
  return takingLong((tx: WriteTransaction, input: BulkRemoval, actor: CommandActor): void => {
    const ids = [...new Set(input.ids)];
    const missing: string[] = [];
    for (const id of ids) {
      // What a cascade took along is as gone as it was meant to be.
      if (tx.wasRemoved(kind, id)) continue;
      try {
        remove(tx, { id, cascade: input.cascade }, actor);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== "entity_not_found") throw error;
        missing.push(id);
      }
    }
    if (missing.length > 0) throw referenceInvalid(kind, "ids", missing);
  });
}
