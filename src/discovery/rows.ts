// Outcome of each row read from a device's tables: kept, or dropped with a reason. Every row is counted.

import { groupedDigits } from "../base/text.ts";

/** Reasons to set rows aside, as text after their number. */
export const ROW_REASONS = {
  duplicate: "repeating another row",
  superseded: "superseded by another table",
  elsewhere: "already reported by another device",
  answered: "of devices that responded themselves",
  own: "of the device itself",
  component: "of parts of the device",
  index: "with an invalid index",
  value: "with an invalid value",
  invalid: "marked as invalid",
  incomplete: "without a MAC address",
  group: "multicast or broadcast",
  no_station: "not of a single station",
  link_local: "link-local",
  loopback: "loopback",
  outside: "outside the network's subnets",
  contradicted: "contradicted by another device",
  virtual: "of virtual routers",
  not_learned: "not learned",
  no_port: "without a port",
  no_ports: "of VLANs without ports",
  not_trunk: "of ports that are not trunks",
  no_interface: "of ports or interfaces that the device does not have",
  unstacked: "of interfaces without an aggregate or unit",
  no_neighbor: "without a neighbor",
  further: "with further addresses of a neighbor",
  withheld: "depending on data that was not read",
  deleted: "deleted by a user",
  limit: "beyond the limit",
} as const;

export type RowReason = keyof typeof ROW_REASONS;

/** Outcome of one row. */
export const KEPT_ROW = "kept";
export type RowOutcome = typeof KEPT_ROW | RowReason;

/** Row counts of a table: `read` equals `kept` plus all of `set_aside`. */
export interface RowCount {
  readonly read: number;
  readonly kept: number;
  /** Reasons that occurred, in the order of ROW_REASONS. */
  readonly set_aside: Readonly<Partial<Record<RowReason, number>>>;
}

export const NO_ROWS: RowCount = { read: 0, kept: 0, set_aside: {} };

/** Counts rows by outcome; every row has one. */
export function countRows<Row>(rows: Iterable<Row>, outcomeOf: (row: Row) => RowOutcome): RowCount {
  const counts = new Map<RowOutcome, number>();
  let read = 0;
  for (const row of rows) {
    const outcome = outcomeOf(row);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    read += 1;
  }
  return { read, kept: counts.get(KEPT_ROW) ?? 0, set_aside: inOrder((reason) => counts.get(reason) ?? 0) };
}

export function sumRows(counts: readonly RowCount[]): RowCount {
  const sum = (countOf: (count: RowCount) => number): number =>
    counts.reduce((total, count) => total + countOf(count), 0);
  return {
    read: sum(({ read }) => read),
    kept: sum(({ kept }) => kept),
    set_aside: inOrder((reason) => sum(({ set_aside }) => set_aside[reason] ?? 0)),
  };
}

/** Moves this many kept rows to a set-aside reason. */
export function setAside({ read, kept, set_aside }: RowCount, reason: RowReason, count: number): RowCount {
  const moved = Math.min(kept, Math.max(0, count));
  if (moved === 0) return { read, kept, set_aside };
  const countOf = (each: RowReason): number => (set_aside[each] ?? 0) + (each === reason ? moved : 0);
  return { read, kept: kept - moved, set_aside: inOrder(countOf) };
}

/** Applies the outcomes of kept rows after later processing. */
export function narrowed(rows: RowCount, processed: Pick<RowCount, "set_aside">): RowCount {
  return Object.entries(processed.set_aside).reduce(
    (count, [reason, dropped]) => setAside(count, reason as RowReason, dropped),
    rows,
  );
}

/**
 * `851 rows read, 667 kept, 184 discarded: 28 without a MAC address, 156 outside the
 * network's subnets`.
 */
export function describeRows({ read, kept, set_aside }: RowCount): string {
  const reasons = Object.entries(set_aside).map(
    ([reason, count]) => `${groupedDigits(count)} ${ROW_REASONS[reason as RowReason]}`,
  );
  const aside = reasons.length === 0 ? "" : `, ${groupedDigits(read - kept)} discarded: ${reasons.join(", ")}`;
  return `${groupedDigits(read)} ${read === 1 ? "row" : "rows"} read, ${groupedDigits(kept)} kept${aside}`;
}

const REASONS = Object.keys(ROW_REASONS) as readonly RowReason[];

function inOrder(countOf: (reason: RowReason) => number): Partial<Record<RowReason, number>> {
  return Object.fromEntries(REASONS.flatMap((reason) => (countOf(reason) > 0 ? [[reason, countOf(reason)]] : [])));
}
