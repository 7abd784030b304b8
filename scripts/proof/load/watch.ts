// Looks at a running appliance from outside, now and then: its anonymous memory, its descriptors, the size of its write-ahead log.

import { readdirSync, readFileSync, statSync } from "node:fs";

export interface Look {
  /** Since the watching began. */
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

  /** Looks once more, and no more. */
  stop(): void {
    this.leave();
    this.look();
  }

  /** Looks no more: what is watched may be gone. */
  leave(): void {
    clearInterval(this.timer);
  }

  get largest(): Omit<Look, "atS"> {
    const of = (value: (look: Look) => number) => Math.max(...this.looks.map(value));
    return { memoryMb: of((look) => look.memoryMb), descriptors: of((look) => look.descriptors), walMb: of((look) => look.walMb) };
  }

  /** By least squares over the second half, in MB a minute. */
  get memorySlope(): number {
    const half = this.looks.slice(Math.floor(this.looks.length / 2));
    const meanAt = half.reduce((sum, { atS }) => sum + atS, 0) / half.length;
    const meanMb = half.reduce((sum, { memoryMb }) => sum + memoryMb, 0) / half.length;
    const spread = half.reduce((sum, { atS }) => sum + (atS - meanAt) ** 2, 0);
    return spread === 0 ? 0 : (60 * half.reduce((sum, { atS, memoryMb }) => sum + (atS - meanAt) * (memoryMb - meanMb), 0)) / spread;
  }

  private look(): void {
    this.looks.push({ atS: (performance.now() - this.began) / 1_000, memoryMb: anonymousMb(this.pid), descriptors: descriptorsOf(this.pid), walMb: sizeMb(this.wal) });
  }
}

export function anonymousMb(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function sizeMb(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20;
}
