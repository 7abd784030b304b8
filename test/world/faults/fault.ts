// A fault planted in the product: a rule that it no longer follows, as an exact text of a source file and its
// replacement.

import type { FigureName } from "../figures/figures.ts";

export interface PlantedFault {
  readonly name: string;
  /** Rule broken by the fault. */
  readonly rule: string;
  /** Figures of which at least one must leave its bounds. */
  readonly figures: readonly FigureName[];
  /** Path of the source file. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly before: string;
  readonly after: string;
}

/** The text with the fault. @throws Error unless `before` occurs exactly once */
export function withFault({ name, file, before, after }: PlantedFault, text: string): string {
  const [head, tail, ...others] = text.split(before);
  if (head === undefined || tail === undefined || others.length > 0)
    throw new Error(
      `${name}: its text must occur once in ${file}, but occurs ${others.length + (tail === undefined ? 0 : 1)} times`,
    );
  return head + after + tail;
}
