// Record types derived from response schemas: the wire format and the stored fields are declared once.

import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { ObservedField, RecordBase } from "../db/kind.ts";
import type { Discoverable } from "./discovered.ts";

type Frozen<T> = T extends ReadonlyArray<infer Item> ? readonly Item[] : T;

/**
 * The stored fields of a response.
 * @typeParam Composed fields composed from other records
 */
export type RecordOf<Schema extends TObject, Composed extends string = never, Fields = Static<Schema>> = RecordBase & {
  readonly [Name in keyof Fields as Exclude<Name, keyof RecordBase | "valid_to" | ObservedField | Composed>]:
    | Frozen<Fields[Name]>
    | (object extends Pick<Fields, Name> ? undefined : never);
};

/**
 * Schemas for the optional fields of a write.
 * @typeParam Fixed fields that a write must contain or cannot set
 * @typeParam Composed as for RecordOf
 */
export type WriteSchemas<Stored, Fixed extends keyof Stored, Composed extends string = never> = Readonly<
  Record<
    Exclude<keyof Stored, keyof RecordBase | keyof Discoverable | "first_discovery_id" | Fixed> | Composed,
    TSchema
  >
>;

/** Example of the fields that end every response. */
export const RECORD_EXAMPLE = {
  created_at: "2026-11-21T09:15:00.123Z",
  updated_at: "2026-11-21T09:15:00.123Z",
  valid_from: "2026-11-21T09:15:00.123Z",
  valid_to: null,
  lineage_id: null,
};
