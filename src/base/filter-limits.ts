// How much one filter may ask: checked where it is read, and told by the documents.

/** Characters of a filter. */
export const FILTER_MAX_LENGTH = 4_000;
/** Comparisons, words and functions in one filter. */
export const FILTER_MAX_TERMS = 100;
/** Parentheses, functions and NOTs within each other. */
export const FILTER_MAX_DEPTH = 20;
/** References that a field may lead through: `services.host.network.name` goes through three. */
export const FILTER_MAX_REFERENCES = 3;
