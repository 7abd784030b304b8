// What the appliance counts, by name. Whoever counts does not know who reads, nor the other way round.

interface Counted {
  readonly help: string;
  /** Where it is not a plain number of things. */
  readonly unit?: "bytes" | "milliseconds";
}
interface CountedByLabel extends Counted {
  readonly label: string;
  readonly values: readonly string[];
}

/** What only grows from the start of the process on, divided by what its label tells. */
const COUNTERS = {
  requests: {
    help: "Requests received, by status.",
    label: "result",
    // Failed: for a fault of the appliance's own. Cut off: nobody was there to read it.
    values: ["answered", "refused", "overloaded", "failed", "cut_off"],
  },
  writes: {
    help: "Commands run by the writer, by result.",
    label: "outcome",
    values: ["committed", "unchanged", "refused", "failed"],
  },
  long_reads: {
    help: "Long reads requested, by whether they started.",
    label: "outcome",
    values: ["started", "refused"],
  },
  scans: {
    help: "Scans ended, by status.",
    label: "status",
    values: ["Completed", "Failed", "Cancelled", "Interrupted"],
  },
  log_lines: { help: "Log lines, by level.", label: "level", values: ["info", "warn", "error"] },
} as const satisfies Record<string, CountedByLabel>;

/** What goes up and down. */
const GAUGES = {
  bodies_held: { help: "Memory held by request bodies being received.", unit: "bytes" },
  feed_streams: { help: "Open streams of changes." },
  feed_waiting: { help: "Requests waiting for a change." },
  oldest_write_wait: { help: "How long the oldest command has been waiting for the writer.", unit: "milliseconds" },
  long_reads_under_way: { help: "Long reads not read to the end yet." },
  scans_under_way: { help: "Scans queued or running." },
  writes_waiting: { help: "Commands waiting for the writer." },
} as const satisfies Record<string, Counted>;

/** To be added to where something happens: `counts.writes.committed += 1`. */
export type Counts = {
  readonly [Name in keyof typeof COUNTERS]: Record<(typeof COUNTERS)[Name]["values"][number], number>;
};
export type GaugeName = keyof typeof GAUGES;

/** One name with its values at a moment; a gauge has one, without a label. */
export interface Family extends Counted {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly label: string | null;
  readonly values: Readonly<Record<string, number>>;
}

export class Counters {
  readonly counts = Object.fromEntries(
    Object.entries(COUNTERS).map(([name, { values }]) => [name, Object.fromEntries(values.map((each) => [each, 0]))]),
  ) as Counts;
  private readonly gauges = new Map<GaugeName, () => number>();

  /** @param read asked whenever someone wants to know; an earlier function of this name is forgotten */
  gauge(name: GaugeName, read: () => number): void {
    this.gauges.set(name, read);
  }

  /** A gauge as it stands; 0 for one that nobody tells. */
  valueOf(name: GaugeName): number {
    return this.gauges.get(name)?.() ?? 0;
  }

  /** All of them as they stand; a gauge that nobody tells is left out. */
  read(): Family[] {
    const counters = Object.entries(COUNTERS).map(([name, { help, label }]) => {
      return { name, type: "counter" as const, help, label, values: { ...this.counts[name as keyof Counts] } };
    });
    const gauges = Object.entries(GAUGES).flatMap(([name, counted]): Family[] => {
      const read = this.gauges.get(name as GaugeName);
      return read === undefined ? [] : [{ name, type: "gauge", ...counted, label: null, values: { "": read() } }];
    });
    return [...counters, ...gauges];
  }
}
