// What a filter asks of records, as data: a tree of tests on fields, of what other records say, and of how it was. No
// SQL, and no syntax of filters: inventory/filter reads that.

import { ownValue } from "../../base/fields.ts";
import type { CalledField } from "../called-words.ts";
import type { AnyKind } from "../kind.ts";

/**
 * A test of one value. SQL tells it where it can: 1, 0, or NULL where only `holds` can. What SQL tells is what `holds`
 * tells.
 */
export interface ValueTest {
  /** @param value of a JSON document, neither null nor absent */
  readonly holds: (value: unknown) => boolean;
  /**
   * @param value an expression for the value as SQL has it: text, number, 1 and 0 for booleans; never NULL
   * @param bind binds a value, and gives its placeholder
   * @returns null where SQL cannot tell it of any value
   */
  readonly sql: ((value: string, bind: Bind) => string) | null;
  /** What all values that pass are, or begin with, in the form in which the index of words has them. */
  readonly lookup?: { readonly is: "whole" | "beginning"; readonly text: string };
}

export type Bind = (value: string | number) => string;

/** Where in a record a value stands. */
export interface FieldPlace {
  readonly steps: readonly FieldStep[];
  /** Members are the record's own; observations stand beside them; the end is that of the version. */
  readonly of: "members" | "observed" | "end";
}

export interface FieldStep {
  readonly name: string;
  /** Whether it is a list, of which each item is looked at. */
  readonly isMany: boolean;
}

/** The record has a value there, any one of which passes. */
export interface FieldCondition {
  readonly type: "field";
  readonly place: FieldPlace;
  readonly test: ValueTest;
  /** How the index of words has the field; absent where it has not. */
  readonly called?: CalledField;
}

export type Condition =
  | { readonly type: "all" | "any"; readonly parts: readonly Condition[] }
  | { readonly type: "not"; readonly part: Condition }
  | FieldCondition
  /** Has a value there that is not empty. */
  | { readonly type: "present"; readonly place: FieldPlace }
  /** Names, in one of these places, a record of a kind that exists, is in reach and matches. */
  | {
      readonly type: "names";
      readonly places: readonly FieldPlace[];
      readonly kind: AnyKind;
      readonly that: Condition | null;
      /** The entry of the search index that whoever names a record of this id has; absent where none has. */
      readonly entryOf?: (id: string) => string;
    }
  /** Is named, in this field, by a record of a kind that exists, is in reach and matches. */
  | { readonly type: "named"; readonly by: string; readonly kind: AnyKind; readonly that: Condition | null }
  /** Is found by these words. */
  | { readonly type: "found"; readonly search: string }
  /** So many updates after a transaction changed a field. */
  | {
      readonly type: "changes";
      readonly after: number;
      readonly field: string;
      readonly test: (count: number) => boolean;
    }
  /** Was so at any time, or all the time, since a transaction: as of it, and in every version after it. */
  | { readonly type: "ever" | "always"; readonly after: number; readonly that: Condition }
  /** Existed as of a transaction, and was so. */
  | { readonly type: "was"; readonly as: number; readonly that: Condition };

/** The field of a place in the record itself; null for one within an object or a list, and for what is not its own. */
export function ownFieldOf({ steps, of }: FieldPlace): string | null {
  const [step] = steps;
  return of === "members" && steps.length === 1 && step?.isMany === false ? step.name : null;
}

/** The values that a document has in a place, neither null nor absent. */
export function valuesAt(document: Readonly<Record<string, unknown>>, steps: readonly FieldStep[]): unknown[] {
  let values: unknown[] = [document];
  for (const { name, isMany } of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (value === null || typeof value !== "object") continue;
      const found = ownValue(value as Readonly<Record<string, unknown>>, name);
      if (found === null || found === undefined) continue;
      if (isMany && Array.isArray(found)) for (const item of found) next.push(item);
      else next.push(found);
    }
    values = next;
  }
  return values.filter((value) => value !== null && value !== undefined);
}

/** Whether a document has a value in a place: not an empty text, list or object. */
export function isPresentAt(document: Readonly<Record<string, unknown>>, steps: readonly FieldStep[]): boolean {
  return valuesAt(document, steps).some(
    (value) => value !== "" && (typeof value !== "object" || Object.keys(value as object).length > 0),
  );
}
