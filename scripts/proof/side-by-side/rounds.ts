// Alternating measurements of the products, A B C A B C …, so that other load on the machine affects all of them
// equally; and their ratios.

import { type LoadResult, load } from "../../benchmark/load.ts";
import { cpuSecondsOf } from "./processes.ts";
import type { Operation, Product } from "./product.ts";

/** Product to measure, and the operation. */
interface Competitor {
  readonly product: Pick<Product, "name" | "port" | "pids">;
  readonly operation: Operation;
}

/** Results of one competitor, in the order of the runs. */
export interface Runs {
  readonly name: string;
  /** Operations per second, or seconds per operation. */
  readonly values: readonly number[];
  /** CPU time of all processes per operation, in microseconds; empty if not measured. */
  readonly cpuMicroseconds: readonly number[];
  /** Number of responses without success. */
  readonly failures: number;
}

export interface LoadPlan {
  readonly runs: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Repeats an operation in a closed loop. */
export function loadProduct(
  product: Pick<Product, "port" | "pids">,
  { requests: request }: Operation,
  seconds: number,
  connections: number,
): Promise<LoadResult> {
  return load({ port: product.port, seconds, connections, cpuSeconds: () => cpuSecondsOf(product.pids), request });
}

/** Measures operations per second in a closed loop. A first round, which is not counted, warms all of them up. */
export async function measureRates(competitors: readonly Competitor[], plan: LoadPlan): Promise<Runs[]> {
  const results = competitors.map((competitor) => ({ ...competitor, loads: [] as LoadResult[] }));
  for (let run = -1; run < plan.runs; run += 1) {
    for (const { product, operation, loads } of results) {
      const seconds = run < 0 ? plan.seconds / 3 : plan.seconds;
      const result = await loadProduct(product, operation, seconds, plan.connections);
      if (run >= 0) loads.push(result);
    }
  }
  return results.map(({ product, operation, loads }) => ({
    name: product.name,
    values: loads.map(({ requestsPerSecond }) => requestsPerSecond / operation.requestCount),
    cpuMicroseconds: loads.map(({ cpuMicroseconds }) => cpuMicroseconds * operation.requestCount),
    failures: loads.reduce((sum, { failures }) => sum + failures, 0),
  }));
}

/** Measures seconds per operation, one operation after another. */
export async function measureTimes<T extends Pick<Product, "name" | "pids">>(
  products: readonly T[],
  runs: number,
  action: (product: T, run: number) => Promise<unknown>,
): Promise<Runs[]> {
  const newSeries = (): number[] => [];
  const results = products.map((product) => ({ product, values: newSeries(), cpuMicroseconds: newSeries() }));
  for (let run = 0; run < runs; run += 1) {
    for (const { product, values, cpuMicroseconds } of results) {
      const before = cpuSecondsOf(product.pids);
      const started = performance.now();
      await action(product, run);
      values.push((performance.now() - started) / 1000);
      cpuMicroseconds.push((cpuSecondsOf(product.pids) - before) * 1e6);
    }
  }
  return results.map(({ product, ...measured }) => ({ name: product.name, ...measured, failures: 0 }));
}

interface Spread {
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** Ratio of two series, computed run by run. */
export function ratio(first: readonly number[], second: readonly number[]): Spread {
  return spread(first.map((value, run) => value / (second[run] as number)));
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] as number,
    minimum: sorted[0] as number,
    maximum: sorted.at(-1) as number,
  };
}

/** Formats a spread as `3.1 (2.9–3.4)`. */
export function spreadText({ median, minimum, maximum }: Spread): string {
  return `${short(median)} (${short(minimum)}–${short(maximum)})`;
}

export function short(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toPrecision(3).replace(/^(\d)\.(\d)\d$/, "$1.$2");
}
