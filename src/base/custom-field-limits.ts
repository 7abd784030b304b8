// Limits of custom fields.

/** Maximum number of live fields per record kind. */
export const FIELDS_OF_KIND_MAX = 64;
/** Maximum key length in characters: keys appear in filters and table headers. */
export const FIELD_KEY_MAX_LENGTH = 50;
/** Maximum number of choices per field. */
export const FIELD_CHOICES_MAX = 200;
/** Maximum length of a string value in characters. */
export const FIELD_TEXT_MAX_LENGTH = 1_000;
/** Maximum length of a URL value in characters. */
export const FIELD_URL_MAX_LENGTH = 2_000;
