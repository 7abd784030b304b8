// Commands whose bodies come as bytes: read, checked and normalised before they were given to the writer, which has but
// to parse them. Knows no body.

import type { CommandActor } from "../access/actor.ts";
import type { SecretBox } from "../base/secret-box.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/**
 * The command that takes the bytes of a list, as its operation has checked it, and hands `command` what they say. It
 * throws what `command` throws.
 */
export function fromCheckedBytes<Item, Result>(
  command: (tx: WriteTransaction, input: { items: readonly Item[] }, actor: CommandActor) => Result,
) {
  return (tx: WriteTransaction, input: { bytes: Uint8Array }, actor: CommandActor): Result =>
    command(tx, { items: parsed(input.bytes) as Item[] }, actor);
}

/**
 * The command that writes one record, which also takes the bytes of a large body, as its operation has checked it. It
 * throws what `command` throws.
 */
export function fromCheckedBody<Input extends { readonly body: object }, Result>(
  command: (tx: WriteTransaction, input: Input, actor: CommandActor, box: SecretBox) => Result,
) {
  return (tx: WriteTransaction, input: OrBytes<Input>, actor: CommandActor, box: SecretBox): Result => {
    const { body } = input;
    const given = body instanceof Uint8Array ? { ...input, body: parsed(body) } : input;
    return command(tx, given as Input, actor, box);
  };
}

/** The same input with its body, or the bytes of it. */
type OrBytes<Input extends { readonly body: object }> = {
  readonly [Field in keyof Input]: Field extends "body" ? Input[Field] | Uint8Array : Input[Field];
};

function parsed(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
