// Formatting of counts.

export type Words = readonly [one: string, many: string];

/** `200,000`. Without Intl, whose first use noticeably delays the start of a page. */
export function groupedDigits(count: number | bigint | string): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 host`, `1,342 hosts`. */
export function counted(count: number, one: string, many: string): string {
  return `${groupedDigits(count)} ${count === 1 ? one : many}`;
}
