// Reads one field of a record that is rendered as JSON text.

/** The value of an id field of the record itself. */
export function recordIdOf(text: string, field: string): string {
  const record = JSON.parse(text) as Record<string, unknown>;
  return record[field] as string;
}
