// Texts for bulk writes.

export type Words = readonly [one: string, many: string];
