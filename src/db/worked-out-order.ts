// The order of a list by keys that no version keeps: gathered row by row, each different value's key worked out once. No SQL.

import { compareCodePoints } from "../base/text.ts";

/** What a list is ordered by, the first term before the others. */
export interface WorkedOutTerm {
  readonly direction: "asc" | "desc";
  /** The key of a text; null where the values themselves order. */
  readonly keyOf: ((text: string) => string) | null;
}

type Value = string | number | null;

export class WorkedOutOrder {
  private readonly terms: readonly WorkedOutTerm[];
  private readonly numbers: number[] = [];
  /** By term, the different values, each with its place among them. A million interfaces have a few hundred names. */
  private readonly values: ReadonlyArray<Map<Value, number>>;
  /** By term, the place of each row's value. */
  private readonly places: readonly number[][];

  constructor(terms: readonly WorkedOutTerm[]) {
    this.terms = terms;
    this.values = terms.map(() => new Map<Value, number>());
    this.places = terms.map(() => []);
  }

  /** @param values one for each term */
  add(n: number, values: readonly Value[]): void {
    this.numbers.push(n);
    for (const [term, known] of this.values.entries()) {
      const value = values[term] as Value;
      let place = known.get(value);
      if (place === undefined) {
        place = known.size;
        known.set(value, place);
      }
      (this.places[term] as number[]).push(place);
    }
  }

  /** The record numbers in order; those that compare alike ascend. */
  sorted(): Uint32Array {
    const { numbers } = this;
    const ranks = this.terms.map((term, index) => {
      const rankOf = ranksOf([...(this.values[index] as Map<Value, number>).keys()], term);
      return Uint32Array.from(this.places[index] as number[], (place) => rankOf[place] as number);
    });
    const rows = Uint32Array.from(numbers, (_, row) => row).sort((a, b) => {
      for (const rank of ranks) if (rank[a] !== rank[b]) return (rank[a] as number) - (rank[b] as number);
      return (numbers[a] as number) - (numbers[b] as number);
    });
    return rows.map((row) => numbers[row] as number);
  }
}

/** By a value's place, where it stands among the others: as SQLite has it, nothing first, then numbers, then texts. */
function ranksOf(values: readonly Value[], { direction, keyOf }: WorkedOutTerm): Uint32Array {
  const keys = keyOf === null ? values : values.map((value) => (typeof value === "string" ? keyOf(value) : value));
  const sign = direction === "desc" ? -1 : 1;
  const sorted = Uint32Array.from(keys, (_, place) => place).sort(
    (a, b) => sign * compared(keys[a] as Value, keys[b] as Value),
  );
  const ranks = new Uint32Array(values.length);
  for (const [rank, place] of sorted.entries()) ranks[place] = rank;
  return ranks;
}

function compared(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return weight(a) - weight(b);
}

function weight(value: Value): number {
  return value === null ? 0 : typeof value === "number" ? 1 : 2;
}
