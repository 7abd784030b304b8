// Record types derived from response schemas: the wire format and the stored fields are declared once.

import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { ObservedField, RecordBase } from "../db/kind.ts";
import type { Discoverable } from "./discovered.ts";

type Frozen<T> = T extends ReadonlyArray<infer Item> ? readonly Item[] : T;

/**
 * The stored fields of a response.
 * @typeParam Composed fields composed from other records
 */
export type RecordOf<Answer extends TObject, Composed extends string = never, Shown = Static<Answer>> = RecordBase & {
  readonly [Name in keyof Shown as Exclude<Name, keyof RecordBase | "valid_to" | ObservedField | Composed>]:
    | Frozen<Shown[Name]>
    | (object extends Pick<Shown, Name> ? undefined : never);
};

/**
 * Schemas for the optional fields of a write.
 * @typeParam Fixed fields that a write must contain or cannot set
 * @typeParam Composed as for RecordOf
 */
export type Sayable<Kept, Fixed extends keyof Kept, Composed extends string = never> = Readonly<
  Record<Exclude<keyof Kept, keyof RecordBase | keyof Discoverable | "first_discovery_id" | Fixed> | Composed, TSchema>
>;
