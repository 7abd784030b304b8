// Formatting of counts.

export type WordPair = readonly [one: string, many: string];

/** `200,000`. Does not use Intl, whose first use noticeably delays page load. */
export function groupedDigits(count: number | bigint | string): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 host`, `1,342 hosts`. */
export function counted(count: number, singular: string, plural: string): string {
  return `${groupedDigits(count)} ${count === 1 ? singular : plural}`;
}
