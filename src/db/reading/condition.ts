// Filter conditions as data: a tree of tests on fields, on other records and on history. No SQL, and no filter syntax:
// records/filter parses that.

import { ownValue } from "../../base/fields.ts";
import type { AnyKind } from "../kind.ts";
import type { IndexedField } from "../name-entries.ts";

/** Test of one value. `sql` yields 1, 0, or NULL where only `holds` can decide. Both must agree. */
export interface ValueTest {
  /** @param value from a JSON document, never null or missing */
  readonly holds: (value: unknown) => boolean;
  /**
   * @param value SQL expression for the value: text, number, 1 and 0 for booleans; never NULL
   * @param bind binds a value and returns its placeholder
   * @returns null if SQL cannot decide for any value
   */
  readonly sql: ((value: string, bind: Bind) => string) | null;
  /** Exact value or prefix that all passing values share, in word-index form. */
  readonly lookup?: { readonly match: "whole" | "beginning"; readonly text: string };
}

export type Bind = (value: string | number) => string;

/** Path to a value in a record. */
export interface FieldPath {
  readonly steps: readonly FieldStep[];
  /** Members: the record's own fields. Observed: observation values. End: end of the version. */
  readonly source: "members" | "observed" | "end";
}

export interface FieldStep {
  readonly name: string;
  /** Whether it is a list whose items are tested. */
  readonly isMany: boolean;
}

/** The record has at least one value there that passes. */
export interface FieldCondition {
  readonly type: "field";
  readonly path: FieldPath;
  readonly test: ValueTest;
  /** Word-index settings of the field; absent if not indexed. */
  readonly wordIndex?: IndexedField;
}

export type Condition =
  | { readonly type: "all" | "any"; readonly parts: readonly Condition[] }
  | { readonly type: "not"; readonly part: Condition }
  | FieldCondition
  /** Has a non-empty value there. */
  | { readonly type: "present"; readonly path: FieldPath }
  /** Refers, in one of these fields, to an existing record of this kind that is in reach and matches. */
  | {
      readonly type: "names";
      readonly paths: readonly FieldPath[];
      readonly kind: AnyKind;
      readonly nested: Condition | null;
      /** Full-text entry of every record that refers to this id; absent if there is none. */
      readonly entryOf?: (id: string) => string;
    }
  /** Is referred to, in this field, by an existing record of this kind that is in reach and matches. */
  | { readonly type: "named"; readonly by: string; readonly kind: AnyKind; readonly nested: Condition | null }
  /** Matches these search words. */
  | { readonly type: "found"; readonly search: string }
  /** Number of updates after a transaction that changed a field. */
  | {
      readonly type: "changes";
      readonly after: number;
      readonly field: string;
      readonly test: (count: number) => boolean;
    }
  /** Matched at any time, or all the time, since a transaction: as of it, and in every later version. */
  | { readonly type: "ever" | "always"; readonly after: number; readonly nested: Condition }
  /** Existed and matched as of a transaction. */
  | { readonly type: "was"; readonly sequence: number; readonly nested: Condition };

/** Name of a top-level member field; null for a nested or list field, and for anything other than members. */
export function ownFieldOf({ steps, source }: FieldPath): string | null {
  const [step] = steps;
  return source === "members" && steps.length === 1 && step?.isMany === false ? step.name : null;
}

/** Values of a document at a path, without null and missing ones. */
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

/** Whether a document has a non-empty value at a path: not an empty text, list or object. */
export function isPresentAt(document: Readonly<Record<string, unknown>>, steps: readonly FieldStep[]): boolean {
  return valuesAt(document, steps).some(
    (value) => value !== "" && (typeof value !== "object" || Object.keys(value as object).length > 0),
  );
}
