// Alternating measurements of the products, A B C A B C …, so that other load of the machine affects all alike, with
// their ratios.

import { type LoadResult, load } from "../../benchmark/load.ts";
import { cpuSecondsOf } from "./processes.ts";
import type { Operation, Product } from "./product.ts";

/** A measured product. */
interface Contender {
  readonly product: Pick<Product, "name" | "port" | "pids">;
  readonly operation: Operation;
}

/** Results of one contender, in turn order. */
export interface Runs {
  readonly name: string;
  /** Operations per second, or seconds per operation. */
  readonly values: readonly number[];
  /** Processor time of all its processes per operation, in microseconds; empty if not measured. */
  readonly cpuMicroseconds: readonly number[];
  /** Answers without success. */
  readonly failures: number;
}

export interface LoadPlan {
  readonly runs: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Operations per second, in a closed loop. An uncounted first turn warms up all of them. */
export async function rates(contenders: readonly Contender[], plan: LoadPlan): Promise<Runs[]> {
  const results = contenders.map(() => [] as LoadResult[]);
  for (let run = -1; run < plan.runs; run += 1) {
    for (const [place, { product, operation }] of contenders.entries()) {
      const seconds = run < 0 ? plan.seconds / 3 : plan.seconds;
      const result = await load({
        port: product.port,
        seconds,
        connections: plan.connections,
        cpuSeconds: () => cpuSecondsOf(product.pids),
        request: operation.requests,
      });
      if (run >= 0) results[place]?.push(result);
    }
  }
  return contenders.map(({ product, operation }, place) => {
    const own = results[place] as LoadResult[];
    return {
      name: product.name,
      values: own.map(({ requestsPerSecond }) => requestsPerSecond / operation.each),
      cpuMicroseconds: own.map(({ cpuMicroseconds }) => cpuMicroseconds * operation.each),
      failures: own.reduce((sum, { failures }) => sum + failures, 0),
    };
  });
}

/** Seconds per operation, in sequence. */
export async function times<T extends Pick<Product, "name" | "pids">>(
  products: readonly T[],
  runs: number,
  action: (product: T, run: number) => Promise<unknown>,
): Promise<Runs[]> {
  const results = products.map(() => ({ values: [] as number[], cpuMicroseconds: [] as number[] }));
  for (let run = 0; run < runs; run += 1) {
    for (const [place, product] of products.entries()) {
      const before = cpuSecondsOf(product.pids);
      const began = performance.now();
      await action(product, run);
      results[place]?.values.push((performance.now() - began) / 1000);
      results[place]?.cpuMicroseconds.push((cpuSecondsOf(product.pids) - before) * 1e6);
    }
  }
  return products.map(({ name }, place) => ({
    name,
    ...(results[place] as { values: number[]; cpuMicroseconds: number[] }),
    failures: 0,
  }));
}

interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Ratio of the two, run by run. */
export function ratio(one: readonly number[], other: readonly number[]): Spread {
  return spread(one.map((value, run) => value / (other[run] as number)));
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] as number,
    least: sorted[0] as number,
    most: sorted.at(-1) as number,
  };
}

/** `3.1 (2.9–3.4)` */
export function spreadText({ median, least, most }: Spread): string {
  return `${short(median)} (${short(least)}–${short(most)})`;
}

/** Three significant digits. */
export function short(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toPrecision(3).replace(/^(\d)\.(\d)\d$/, "$1.$2");
}
