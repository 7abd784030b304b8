// What the writer runs for what is ignored: it comes by itself (removal.ts), and can be lifted.

import type { CommandActor } from "../../access/actor.ts";
import { getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { removeRecord } from "../references.ts";
import { ignoredKind } from "./ignored.ts";

/**
 * Lets discovery bring a thing back when it comes upon it again.
 * @throws DomainError entity_not_found; precondition_failed
 */
export function liftIgnored(
  tx: WriteTransaction,
  input: { id: string; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const record = getReachable(tx, ignoredKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, ignoredKind, input.id, false);
  return record;
}
