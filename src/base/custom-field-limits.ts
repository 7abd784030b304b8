// How much custom fields may hold.

/** Live fields of one kind of record. */
export const FIELDS_OF_KIND_MAX = 64;
/** Characters of a key: it stands in filters and in the head of tables. */
export const FIELD_KEY_MAX_LENGTH = 50;
/** Choices of one field. */
export const FIELD_CHOICES_MAX = 200;
/** Characters of a value of type text. */
export const FIELD_TEXT_MAX_LENGTH = 1_000;
/** Characters of a value of type url. */
export const FIELD_URL_MAX_LENGTH = 2_000;
