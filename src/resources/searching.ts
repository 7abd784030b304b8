// The search parameter of lists: what it takes, what it means, and how resources pass it on. Must not know any
// resource.

import { Type } from "@sinclair/typebox";
import { invalid } from "../base/errors.ts";
import { SEARCH_MAX_LENGTH, SEARCH_MAX_WORDS, searchWords } from "../db/search-text.ts";

/**
 * The query parameter of a list that can be searched.
 * @param where what is searched, as a sentence says it: `its name or description`
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
 * What a search means to the store; undefined for one that asks nothing.
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
