// The record of a kind by the answer that shows it: what the wire says and what the store keeps are declared once.

import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { ObservedField, RecordBase } from "../db/kind.ts";
import type { Discoverable } from "./discovered.ts";

type Frozen<T> = T extends ReadonlyArray<infer Item> ? readonly Item[] : T;

/**
 * What is kept of what an answer shows.
 * @typeParam Composed what stands in it of other records
 */
export type RecordOf<Answer extends TObject, Composed extends string = never, Shown = Static<Answer>> = RecordBase & {
  readonly [Name in keyof Shown as Exclude<Name, keyof RecordBase | "valid_to" | ObservedField | Composed>]:
    | Frozen<Shown[Name]>
    | (object extends Pick<Shown, Name> ? undefined : never);
};

/**
 * A schema for whatever of a record a write may say and leave out.
 * @typeParam Fixed what it must say, or can't
 * @typeParam Composed as RecordOf has it
 */
export type Sayable<Kept, Fixed extends keyof Kept, Composed extends string = never> = Readonly<
  Record<Exclude<keyof Kept, keyof RecordBase | keyof Discoverable | "first_discovery_id" | Fixed> | Composed, TSchema>
>;
