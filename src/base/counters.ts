// Metrics of the appliance by name. Independent of writers and readers.

interface MetricInfo {
  readonly help: string;
  /** Unit, unless a plain count. */
  readonly unit?: "bytes" | "milliseconds";
}
interface LabeledMetricInfo extends MetricInfo {
  readonly label: string;
  readonly values: readonly string[];
}

/** Counters since the start of the process, by label. */
const COUNTERS = {
  requests: {
    help: "Requests received, by status.",
    label: "result",
    // Failed: an error of the appliance. Cut off: the client disconnected.
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
} as const satisfies Record<string, LabeledMetricInfo>;

/** Gauges. */
const GAUGES = {
  bodies_held: { help: "Memory held by request bodies being received.", unit: "bytes" },
  feed_streams: { help: "Open change streams." },
  feed_waiting: { help: "Requests waiting for a change." },
  oldest_write_wait: { help: "How long the oldest command has been waiting for the writer.", unit: "milliseconds" },
  long_reads_under_way: { help: "Long reads in progress." },
  scans_under_way: { help: "Scans queued or running." },
  writes_waiting: { help: "Commands waiting for the writer." },
} as const satisfies Record<string, MetricInfo>;

/** Incremented where events occur: `counts.writes.committed += 1`. */
export type Counts = {
  readonly [Name in keyof typeof COUNTERS]: Record<(typeof COUNTERS)[Name]["values"][number], number>;
};
export type GaugeName = keyof typeof GAUGES;

/** A metric with its current values; a gauge has one value, without a label. */
export interface Family extends MetricInfo {
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

  /** @param read called on each read; replaces an earlier function of this name */
  gauge(name: GaugeName, read: () => number): void {
    this.gauges.set(name, read);
  }

  /** Current value of a gauge; 0 if unregistered. */
  valueOf(name: GaugeName): number {
    return this.gauges.get(name)?.() ?? 0;
  }

  /** Current values of all metrics, without unregistered gauges. */
  read(): Family[] {
    const counters = Object.entries(COUNTERS).map(([name, { help, label }]) => {
      return { name, type: "counter" as const, help, label, values: { ...this.counts[name as keyof Counts] } };
    });
    const gauges = Object.entries(GAUGES).flatMap(([name, info]): Family[] => {
      const read = this.gauges.get(name as GaugeName);
      return read === undefined ? [] : [{ name, type: "gauge", ...info, label: null, values: { "": read() } }];
    });
    return [...counters, ...gauges];
  }
}
