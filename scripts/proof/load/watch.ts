// Resource samples of a running appliance, taken from outside the process: anonymous memory, descriptors, and size of
// the write-ahead log.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { quantilesOf } from "../../quantiles.ts";

interface Sample {
  /** Seconds since the start of the watch. */
  readonly atS: number;
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly walMb: number;
}

export class Watch {
  readonly samples: Sample[] = [];
  private readonly pid: number;
  private readonly wal: string;
  private readonly startedAt = performance.now();
  private readonly timer: Timer;

  constructor(pid: number, wal: string, everyMs: number) {
    this.pid = pid;
    this.wal = wal;
    this.sample();
    this.timer = setInterval(() => this.sample(), everyMs);
  }

  /** Takes a final sample and stops. */
  stop(): void {
    this.stopTimer();
    this.sample();
  }

  /** Stops without a sample: the appliance may be gone. */
  stopTimer(): void {
    clearInterval(this.timer);
  }

  get largest(): Omit<Sample, "atS"> {
    const maximum = (value: (sample: Sample) => number) => Math.max(...this.samples.map(value));
    return {
      memoryMb: maximum((sample) => sample.memoryMb),
      descriptors: maximum((sample) => sample.descriptors),
      walMb: maximum((sample) => sample.walMb),
    };
  }

  private sample(): void {
    this.samples.push({
      atS: (performance.now() - this.startedAt) / 1_000,
      memoryMb: anonymousMb(this.pid),
      descriptors: descriptorsOf(this.pid),
      walMb: sizeMb(this.wal),
    });
  }
}

/** 10th and 90th percentile of the samples: garbage-collected memory oscillates between them. */
interface Band {
  readonly lowMb: number;
  readonly highMb: number;
}

/** Time after the start whose samples are ignored: allocations in the first minute do not recur. */
const WARM_UP_S = 60;

/** Computes the bands of memory in the two halves after the warm-up. */
export function bandsOf(samples: readonly Pick<Sample, "atS" | "memoryMb">[]): readonly [first: Band, second: Band] {
  const end = samples.at(-1)?.atS ?? 0;
  const middle = (WARM_UP_S + end) / 2;
  const band = (from: number, to: number): Band => {
    const inRange = samples.filter(({ atS }) => atS >= from && atS <= to);
    const quantile = quantilesOf(
      inRange.map(({ memoryMb }) => memoryMb),
      0,
    );
    return { lowMb: quantile(0.1), highMb: quantile(0.9) };
  };
  return [band(WARM_UP_S, middle), band(middle, end)];
}

/**
 * Whether neither end of the second band exceeds that of the first by more than this share, which holds for memory that
 * only oscillates.
 */
export function isFlat([first, second]: readonly [Band, Band], share: number): boolean {
  return second.lowMb <= first.lowMb * (1 + share) && second.highMb <= first.highMb * (1 + share);
}

function anonymousMb(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function sizeMb(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20;
}
