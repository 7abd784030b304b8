// Samples of a running appliance from outside: anonymous memory, descriptors, and size of the write-ahead log.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { quantilesOf } from "../../quantiles.ts";

interface Look {
  /** Since the start of the watch. */
  readonly atS: number;
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly walMb: number;
}

export class Watch {
  readonly looks: Look[] = [];
  private readonly pid: number;
  private readonly wal: string;
  private readonly began = performance.now();
  private readonly timer: Timer;

  constructor(pid: number, wal: string, everyMs: number) {
    this.pid = pid;
    this.wal = wal;
    this.look();
    this.timer = setInterval(() => this.look(), everyMs);
  }

  /** Takes a final sample and stops. */
  stop(): void {
    this.leave();
    this.look();
  }

  /** Stops without a sample: the appliance may be gone. */
  leave(): void {
    clearInterval(this.timer);
  }

  get largest(): Omit<Look, "atS"> {
    const of = (value: (look: Look) => number) => Math.max(...this.looks.map(value));
    return {
      memoryMb: of((look) => look.memoryMb),
      descriptors: of((look) => look.descriptors),
      walMb: of((look) => look.walMb),
    };
  }

  private look(): void {
    this.looks.push({
      atS: (performance.now() - this.began) / 1_000,
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

/** Memory allocated in the first minute is one-time. */
const WARM_UP_S = 60;

/** Bands of memory in the two halves after the warm-up. */
export function bandsOf(looks: readonly Pick<Look, "atS" | "memoryMb">[]): readonly [first: Band, second: Band] {
  const end = looks.at(-1)?.atS ?? 0;
  const middle = (WARM_UP_S + end) / 2;
  const band = (from: number, to: number): Band => {
    const within = looks.filter(({ atS }) => atS >= from && atS <= to);
    const at = quantilesOf(
      within.map(({ memoryMb }) => memoryMb),
      0,
    );
    return { lowMb: at(0.1), highMb: at(0.9) };
  };
  return [band(WARM_UP_S, middle), band(middle, end)];
}

/**
 * Whether neither end of the second band exceeds that of the first by more than this share: for oscillating memory,
 * neither does.
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
