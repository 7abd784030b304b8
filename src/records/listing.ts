// Translates list query parameters into store queries. Independent of resources.

import type { Static, TObject, TProperties } from "@sinclair/typebox";
import { ownValue } from "../base/fields.ts";
import type { RecordBase, ScopeName } from "../db/kind.ts";
import type { Filter } from "../db/reading/list-query.ts";
import { type OrderParameters, orderTerms } from "../resources/ordering.ts";
import type { ResourceBase } from "../resources/resource.ts";
import { normalizedSearch } from "../resources/searching.ts";
import type { ListOptions } from "./list-responses.ts";

/** Parameters with the same meaning in every list. */
interface CommonParameters extends OrderParameters<string> {
  readonly ids?: string[];
  readonly search?: string;
  readonly include_children?: boolean;
  readonly include?: string;
  /** Like `include`, for lists whose records include their parts by default. */
  readonly children?: string;
}

type FieldOf<R extends RecordBase, Value> = {
  [Name in keyof R & string]: [Value] extends [R[Name]] ? Name : never;
}[keyof R & string];

/**
 * Meaning of a parameter. Selects records whose field equals the value or lists any of the values; records in the
 * container with that id; or records that refer to that id by a live column.
 */
type MeaningOf<R extends RecordBase, Value> = [Value] extends [readonly string[]]
  ? { readonly namesAny: FieldOf<R, Value> }
  :
      | { readonly equals: FieldOf<R, Value> }
      | ([Value] extends [string]
          ? { readonly within: ScopeName } | { readonly names: FieldOf<R, Value> & `${string}_id` }
          : never);

/** By parameter: the compiler requires all parameters in `filters`. */
export type Meanings<R extends RecordBase, Filters extends TProperties, Query = Static<TObject<Filters>>> = {
  readonly [Name in Exclude<keyof Query, keyof CommonParameters>]-?: MeaningOf<R, NonNullable<Query[Name]>>;
};

type AnyMeaning = Partial<Record<"equals" | "namesAny" | "names", string>> & { readonly within?: ScopeName };

/**
 * Defines a list and its export.
 * @param filters their query parameters
 * @returns a function from a validated query to list options
 */
export function listing<R extends RecordBase, Filters extends TProperties>(
  resource: ResourceBase<R>,
  _filters: Filters,
  meanings: Meanings<R, Filters>,
): (query: Static<TObject<Filters>>) => ListOptions {
  const entries = Object.entries<AnyMeaning>(meanings);
  return (query: CommonParameters & Readonly<Record<string, unknown>>) => {
    const filters: Filter[] = [];
    const within: Partial<Record<ScopeName, string>> = {};
    for (const [name, { equals, namesAny, names, within: scope }] of entries) {
      const value = ownValue(query, name);
      if (value === undefined) continue;
      if (scope !== undefined) within[scope] = value as string;
      else if (namesAny !== undefined) filters.push({ field: namesAny, namesAny: value as string[] });
      else if (names !== undefined) filters.push({ field: names as `${string}_id`, names: value as string });
      else if (equals !== undefined) filters.push({ field: equals, equals: value as string | number | boolean });
    }
    const include = query.include ?? query.children;
    return {
      resource,
      filters,
      within,
      search: normalizedSearch(query.search),
      order: orderTerms(query, resource.kind),
      omitsChildren: query.include_children === false,
      ...(include === undefined ? {} : { include }),
    };
  };
}
