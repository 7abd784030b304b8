// Map over a period: presence at any of its timestamps, and its changes. Pure.

import type { Bends } from "./bends.ts";
import { type Diagram, diagramOf, diagramOfItems, type Presence, type Topology } from "./diagram.ts";

type Item = Topology["nodes"][number] | Topology["links"][number];

/** Half-open, in milliseconds since 1970; infinite if unbounded. */
export type PeriodSpan = readonly [fromMs: number, toMs: number];

/** API response for a period. */
export interface PeriodResponse extends Topology {
  readonly from?: string | null;
  readonly to?: string | null;
  readonly truncated?: boolean;
  readonly next_from?: string | null;
}

/** Timestamp with devices or links that appeared or vanished. */
export interface Moment {
  readonly ms: number;
  readonly appeared: readonly string[];
  readonly vanished: readonly string[];
}

/** Content of a period, prepared to show any of its timestamps. */
export interface Period {
  readonly response: PeriodResponse;
  /** Negative infinity for the beginning of the ledger. */
  readonly fromMs: number;
  /** End of the known content: earlier than requested if the response was truncated. Infinity for now. */
  readonly toMs: number;
  /** By the ids of devices and links. */
  readonly spansById: ReadonlyMap<string, readonly PeriodSpan[]>;
  /** In chronological order, without the bounds of the period. */
  readonly moments: readonly Moment[];
  readonly bends: Bends;
}

export function periodOf(response: PeriodResponse): Period {
  const fromMs = response.from == null ? Number.NEGATIVE_INFINITY : Date.parse(response.from);
  const end = response.next_from ?? response.to ?? null;
  const toMs = end === null ? Number.POSITIVE_INFINITY : Date.parse(end);
  const items: readonly Item[] = [...response.nodes, ...response.links];
  const spansById = new Map(items.map((item) => [item.id, spansOf(item)]));
  const moments = new Map<number, { ms: number; appeared: string[]; vanished: string[] }>();
  const momentAt = (ms: number) => {
    const moment = moments.get(ms) ?? { ms, appeared: [], vanished: [] };
    moments.set(ms, moment);
    return moment;
  };
  for (const [id, spans] of spansById)
    for (const [from, to] of spans) {
      if (from > fromMs) momentAt(from).appeared.push(id);
      if (to < toMs) momentAt(to).vanished.push(id);
    }
  return {
    response,
    fromMs,
    toMs,
    spansById,
    moments: [...moments.values()].sort((a, b) => a.ms - b.ms),
    bends: diagramOf(response, null).bends,
  };
}

function spansOf({ intervals = [] }: Item): PeriodSpan[] {
  return intervals.map(({ from, to }) => [Date.parse(from), to === null ? Number.POSITIVE_INFINITY : Date.parse(to)]);
}

/** Position of a timestamp relative to the period. @param ms null for now */
export function sideOf({ fromMs, toMs }: Period, ms: number | null): "before" | "within" | "after" {
  if (ms === null) return toMs === Number.POSITIVE_INFINITY ? "within" : "after";
  if (ms < fromMs) return "before";
  return ms > toMs ? "after" : "within";
}

/** Clamps a timestamp to the period, whose end is exclusive. */
export function withinPeriod({ fromMs, toMs }: Period, ms: number | null): number {
  const last = toMs === Number.POSITIVE_INFINITY ? toMs : toMs - 1;
  return ms === null ? last : Math.min(last, Math.max(fromMs, ms));
}

/** Presence compared with the beginning of the period. @param ms within the period */
export function presenceAt(spans: readonly PeriodSpan[], fromMs: number, ms: number): Presence {
  const isPresentAt = (instant: number) =>
    spans.some(([from, to]) => from <= instant && (instant < to || to === Number.POSITIVE_INFINITY));
  if (isPresentAt(ms)) return isPresentAt(fromMs) ? "stayed" : "appeared";
  return spans.some(([from]) => from <= ms) ? "vanished" : "later";
}

/** Diagram of the whole period in fixed positions, with presence at a timestamp. @param ms null for now */
export function diagramAt(period: Period, ms: number | null): Diagram {
  const { response, fromMs, spansById, bends } = period;
  const instant = withinPeriod(period, ms);
  const presenceOf = ({ id }: Item) => presenceAt(spansById.get(id) ?? [], fromMs, instant);
  return diagramOfItems(
    response.nodes.map((item) => ({ item, presence: presenceOf(item) })),
    // The response has only the latest status, which does not apply to earlier timestamps.
    response.links.map((item) => ({ item, presence: presenceOf(item), status: null })),
    bends,
  );
}

/** Previous or next change relative to a timestamp; null if there is none. @param ms null for now */
export function momentFrom({ moments }: Period, ms: number | null, direction: -1 | 1, steps = 1): Moment | null {
  const instant = ms ?? Number.POSITIVE_INFINITY;
  if (direction === -1) {
    const earlier = moments.findLastIndex((moment) => moment.ms < instant);
    return earlier === -1 ? null : (moments[Math.max(0, earlier - steps + 1)] ?? null);
  }
  const later = moments.findIndex((moment) => moment.ms > instant);
  return later === -1 ? null : (moments[Math.min(moments.length - 1, later + steps - 1)] ?? null);
}

/** Number of changes up to a timestamp. @param ms null for now */
export function momentsUntil({ moments }: Period, ms: number | null): number {
  return ms === null ? moments.length : moments.filter((moment) => moment.ms <= ms).length;
}
