// Adapters for commands with byte bodies, validated and normalized before the writer, which only parses them.
// Independent of the bodies' content.

import type { CommandActor } from "../access/actor.ts";
import type { SecretBox } from "../base/secret-box.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/**
 * Returns the command that parses the bytes of a validated list and passes the items to `command`. Throws the errors of
 * `command`.
 */
export function fromCheckedBytes<Item, Result>(
  command: (tx: WriteTransaction, input: { items: readonly Item[] }, actor: CommandActor) => Result,
) {
  return (tx: WriteTransaction, input: { bytes: Uint8Array }, actor: CommandActor): Result =>
    command(tx, { items: parseJson(input.bytes) as Item[] }, actor);
}

/**
 * Returns the command that writes one record and also accepts a large body as validated bytes. Throws the errors of
 * `command`.
 */
export function fromCheckedBody<Input extends { readonly body: object }, Result>(
  command: (tx: WriteTransaction, input: Input, actor: CommandActor, box: SecretBox) => Result,
) {
  return (tx: WriteTransaction, input: OrBytes<Input>, actor: CommandActor, box: SecretBox): Result => {
    const { body } = input;
    const given = body instanceof Uint8Array ? { ...input, body: parseJson(body) } : input;
    return command(tx, given as Input, actor, box);
  };
}

/** The same input with its body as an object or as bytes. */
type OrBytes<Input extends { readonly body: object }> = {
  readonly [Field in keyof Input]: Field extends "body" ? Input[Field] | Uint8Array : Input[Field];
};

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
