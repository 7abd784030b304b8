// Search parameter of lists: schema, meaning and use by resources. Must not know any resource.

import { Type } from "@sinclair/typebox";
import { invalid } from "../base/errors.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS, searchWords } from "../db/search-text.ts";

/**
 * Query parameter of a searchable list.
 * @param where the searched fields, as part of a sentence: `its name or description`
 */
export function searchQuery(where: string) {
  return {
    search: Type.Optional(
      Type.String({
        maxLength: SEARCH_MAX_LENGTH,
        description: `Only records that match all of these words, ${SEARCH_MAX_WORDS} at most, ignoring case. Each must begin ${where}. Blank: everything.`,
      }),
    ),
  };
}

/**
 * Translates a search to the store; undefined for an empty one.
 * @throws DomainError validation_failed for too many words
 */
export function searched(search: string | undefined): string | undefined {
  if (search === undefined) return undefined;
  const { length } = searchWords(search);
  if (length > SEARCH_MAX_WORDS)
    throw invalid([
      {
        path: "/search",
        message: `must have at most ${SEARCH_MAX_WORDS} different words`,
        value: search.slice(0, SEARCH_MAX_LENGTH),
      },
    ]);
  return length === 0 ? undefined : search;
}
