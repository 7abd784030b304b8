// Precision and recall of (record, scan): which records are present after each scan, against those expected.

import type { Expectation } from "../oracle/expectation.ts";

export class Presence {
  private hits = 0;
  private surplus = 0;
  private missing = 0;
  /** Examples of incorrect records, for the report. */
  readonly examples = new Map<string, number>();

  /**
   * @param actual keys of the present records; a duplicate counts as surplus once
   * @returns keys of incorrect records
   */
  add(actual: readonly string[], { required, tolerated }: Expectation): string[] {
    const found = new Set<string>();
    const wrong: string[] = [];
    for (const key of actual) {
      if (found.has(key) || !(required.has(key) || tolerated.has(key))) {
        this.surplus += 1;
        this.note(`+${key}`);
        wrong.push(key);
      } else if (required.has(key)) this.hits += 1;
      found.add(key);
    }
    for (const key of required)
      if (!found.has(key)) {
        this.missing += 1;
        this.note(`-${key}`);
        wrong.push(key);
      }
    return wrong;
  }

  get precision(): number {
    return ratio(this.hits, this.hits + this.surplus);
  }

  get recall(): number {
    return ratio(this.hits, this.hits + this.missing);
  }

  private note(example: string): void {
    this.examples.set(example, (this.examples.get(example) ?? 0) + 1);
  }
}

/** Share of correct checks. */
export class Share {
  private checked = 0;
  private right = 0;
  /** Examples of incorrect results, for the report. */
  readonly examples = new Map<string, number>();

  add(isCorrect: boolean, example = ""): void {
    this.checked += 1;
    if (isCorrect) this.right += 1;
    else this.examples.set(example, (this.examples.get(example) ?? 0) + 1);
  }

  get value(): number {
    return ratio(this.right, this.checked);
  }
}

/** Ratio of two counts; 1 if there is nothing to count. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
