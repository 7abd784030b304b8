// GET /api/v1/conflicts, as it is worked out: a page of what is in conflict. Every step is bounded.

import type { Actor } from "../../access/actor.ts";
import type { Thinned } from "../../db/pruned-history.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { LIST_HEAD, listMeta, listTail, resolvedMembers } from "../../wire/envelope.ts";
import { NamesThen } from "../activity/names-then.ts";
import type { ConflictType } from "./conflict.ts";
import { shownConflict } from "./conflict-answer.ts";
import { findConflicts } from "./find-conflicts.ts";

export interface ConflictsInput {
  readonly actor: Actor;
  readonly networkId: string | null;
  readonly types: readonly ConflictType[];
  /** The transaction as of which it is. */
  readonly sequence: number;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  readonly thinned?: Thinned;
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);
/** Conflicts named per step. */
const STEP_NAMED = 20;

/** The answer as an envelope. */
export const conflicts = longRead("conflicts", function* (reader: Reader, input: ConflictsInput) {
  const { actor, sequence, limit, offset } = input;
  const finding = findConflicts(reader, { reach: actor, sequence }, input.types, input.networkId);
  let step = finding.next();
  for (; step.done !== true; step = finding.next()) yield PAUSE;
  const found = step.value;
  const page = found.slice(offset, limit === 0 ? undefined : offset + limit);
  const encoder = new TextEncoder();
  const names = new NamesThen(reader, actor, sequence);
  yield encoder.encode(LIST_HEAD);
  for (let start = 0; start < page.length; start += STEP_NAMED) {
    const items = page.slice(start, start + STEP_NAMED).map((each) => JSON.stringify(shownConflict(each, names)));
    yield encoder.encode((start === 0 ? "" : ",") + items.join(","));
  }
  const meta = listMeta({ limit, offset, total: found.length }, input.asked, resolvedMembers(input.thinned));
  yield encoder.encode(listTail(meta));
});
