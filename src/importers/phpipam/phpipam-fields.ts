// What phpIPAM writes in a way of its own: numbers and flags, as texts or not.

/** A whole number that is not negative, also as a text: `"22"`; null for anything else. */
export function wholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

/** `"1"`, 1 and true are set. */
export function flagOf(value: unknown): boolean {
  return value === true || wholeNumber(value) === 1;
}
