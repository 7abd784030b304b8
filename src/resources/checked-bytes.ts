// The command whose body comes as bytes: parsed and checked on the writer's thread, where no reader waits for it.
// Knows no body: each command brings its schema.

import type { Static, TArray, TSchema } from "@sinclair/typebox";
import type { CommandActor } from "../access/actor.ts";
import { invalid } from "../base/errors.ts";
import type { WriteTransaction } from "../db/transaction.ts";
import { parseJson } from "../http/body.ts";
import { check } from "../http/validation.ts";
import { OFFENDERS_MAX } from "./offenders.ts";

/**
 * The command that takes bytes and hands `command` the list that they say.
 * It throws what `command` throws, malformed_json, and validation_failed with every offender.
 */
export function fromBytes<Item extends TSchema, Result>(schema: TArray<Item>, command: (tx: WriteTransaction, input: { items: Array<Static<Item>> }, actor: CommandActor) => Result) {
  return (tx: WriteTransaction, input: { bytes: Uint8Array }, actor: CommandActor): Result => {
    const checked = check(schema, parseJson(input.bytes), "", OFFENDERS_MAX);
    if (!checked.ok) throw invalid(checked.issues);
    return command(tx, { items: checked.value as Array<Static<Item>> }, actor);
  };
}
