// phpIPAM field formats: numbers and flags, possibly as text.

/** A non-negative integer, also as text: `"22"`; null for anything else. */
export function wholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

/** True for `"1"`, 1 and true. */
export function flagOf(value: unknown): boolean {
  return value === true || wholeNumber(value) === 1;
}
