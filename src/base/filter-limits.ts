// Filter limits, enforced by the parser and stated in the documentation.

/** Maximum length in characters. */
export const FILTER_MAX_LENGTH = 4_000;
/** Maximum number of comparisons, words and functions. */
export const FILTER_MAX_TERMS = 100;
/** Maximum nesting of parentheses, functions and NOTs. */
export const FILTER_MAX_DEPTH = 20;
/** Maximum number of references in a field path: `services.host.network.name` has three. */
export const FILTER_MAX_REFERENCES = 3;
