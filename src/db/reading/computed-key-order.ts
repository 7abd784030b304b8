// List sorting by computed keys: collects rows one by one and computes one key per distinct value. No SQL.

import { compareCodePoints } from "../../base/text.ts";

export interface ComputedKey {
  /** Sort key of a string; null to sort by the values themselves. */
  readonly keyOf: ((text: string) => string) | null;
  /** Rows without a value come last in either direction; otherwise they sort before all values. */
  readonly isMissingLast?: boolean;
}

interface ComputedKeyTerm extends ComputedKey {
  readonly direction: "asc" | "desc";
}

type Value = string | number | null;

export class ComputedKeyOrder {
  private readonly terms: readonly ComputedKeyTerm[];
  private readonly numbers: number[] = [];
  /** Distinct values per term, numbered. A million interfaces have a few hundred names. */
  private readonly values: ReadonlyArray<Map<Value, number>>;
  /** Value number of each row, per term. */
  private readonly valueIndexes: readonly number[][];

  constructor(terms: readonly ComputedKeyTerm[]) {
    this.terms = terms;
    this.values = terms.map(() => new Map<Value, number>());
    this.valueIndexes = terms.map(() => []);
  }

  /** @param values one per term */
  add(n: number, values: readonly Value[]): void {
    this.numbers.push(n);
    for (const [term, known] of this.values.entries()) {
      const value = values[term] as Value;
      let valueIndex = known.get(value);
      if (valueIndex === undefined) {
        valueIndex = known.size;
        known.set(value, valueIndex);
      }
      (this.valueIndexes[term] as number[]).push(valueIndex);
    }
  }

  /** Ties ascend by record number. */
  sorted(): Uint32Array {
    const { numbers } = this;
    const ranks = this.terms.map((term, index) => {
      const rankOf = ranksOf([...(this.values[index] as Map<Value, number>).keys()], term);
      return Uint32Array.from(this.valueIndexes[index] as number[], (valueIndex) => rankOf[valueIndex] as number);
    });
    const rows = Uint32Array.from(numbers, (_, row) => row).sort((a, b) => {
      for (const rank of ranks) if (rank[a] !== rank[b]) return (rank[a] as number) - (rank[b] as number);
      return (numbers[a] as number) - (numbers[b] as number);
    });
    return rows.map((row) => numbers[row] as number);
  }
}

/** Rank per value, in SQLite's order: null, numbers, strings. */
function ranksOf(values: readonly Value[], { direction, keyOf, isMissingLast = false }: ComputedKeyTerm): Uint32Array {
  const keys = keyOf === null ? values : values.map((value) => (typeof value === "string" ? keyOf(value) : value));
  const sign = direction === "desc" ? -1 : 1;
  const sorted = Uint32Array.from(keys, (_, valueIndex) => valueIndex).sort((a, b) => {
    const [left, right] = [keys[a] as Value, keys[b] as Value];
    if (isMissingLast && (left === null) !== (right === null)) return left === null ? 1 : -1;
    return sign * compareValues(left, right);
  });
  const ranks = new Uint32Array(values.length);
  for (const [rank, valueIndex] of sorted.entries()) ranks[valueIndex] = rank;
  return ranks;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return weight(a) - weight(b);
}

function weight(value: Value): number {
  return value === null ? 0 : typeof value === "number" ? 1 : 2;
}
