// Search parameter of lists, and the names that a kind is found by. Independent of resources.

import { Type } from "@sinclair/typebox";
import { invalid } from "../base/errors.ts";
import type { IndexedName, NameMatching } from "../db/name-entries.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS, searchWords } from "../db/search-text.ts";

/**
 * Query parameter of a searchable list.
 * @param searchedFields the searched fields, as part of a sentence: `its name or description`
 */
export function searchQuery(searchedFields: string) {
  return {
    search: Type.Optional(
      Type.String({
        maxLength: SEARCH_MAX_LENGTH,
        description: `Only records that match all of these words, ${SEARCH_MAX_WORDS} at most, ignoring case. Each must begin ${searchedFields}. Blank: everything.`,
      }),
    ),
  };
}

/**
 * Translates a search to the store; undefined for an empty one.
 * @throws DomainError validation_failed for too many words
 */
export function normalizedSearch(search: string | undefined): string | undefined {
  if (search === undefined) return undefined;
  const { length } = searchWords(search);
  if (length > SEARCH_MAX_WORDS)
    throw invalid({
      path: "/search",
      message: `must have at most ${SEARCH_MAX_WORDS} different words`,
      value: search.slice(0, SEARCH_MAX_LENGTH),
    });
  return length === 0 ? undefined : search;
}

/** Searchable fields with their matching rules. */
export type NamedFields<R> = { readonly [Name in keyof R & string]?: NameMatching };

/** A function that returns the searchable names of a record. */
export function namesIn<R>(fields: NamedFields<R>) {
  const rules = Object.entries(fields) as Array<[keyof R & string, NameMatching]>;
  return (record: R): IndexedName[] =>
    rules.map(([field, as]) => ({ field, value: record[field] as IndexedName["value"], as }));
}
