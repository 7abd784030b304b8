// The map over a period: what was there at an instant of it, and when it became another. Plain functions.

import type { Bends } from "./bends.ts";
import { type Diagram, diagramOf, diagramOfItems, type Presence, type Topology } from "./diagram.ts";

type Item = Topology["nodes"][number] | Topology["links"][number];

/** Half-open, in milliseconds since 1970; infinite where it goes on. */
export type PeriodSpan = readonly [fromMs: number, toMs: number];

/** An answer over a period, as the API gives it. */
export interface PeriodAnswer extends Topology {
  readonly from?: string | null;
  readonly to?: string | null;
  readonly truncated?: boolean;
  readonly next_from?: string | null;
}

/** An instant at which something came or went. */
export interface Moment {
  readonly ms: number;
  readonly appeared: readonly string[];
  readonly vanished: readonly string[];
}

/** What a period holds, as it is needed to show any instant of it. */
export interface Period {
  readonly answer: PeriodAnswer;
  /** Infinitely early for the beginning of the ledger. */
  readonly fromMs: number;
  /** Of what is known of it: where the answer was cut off, it ends there. Infinite for now. */
  readonly toMs: number;
  /** By the ids of devices and of links. */
  readonly spansById: ReadonlyMap<string, readonly PeriodSpan[]>;
  /** In order; without those at the very beginning and the very end. */
  readonly moments: readonly Moment[];
  readonly bends: Bends;
}

export function periodOf(answer: PeriodAnswer): Period {
  const fromMs = answer.from == null ? Number.NEGATIVE_INFINITY : Date.parse(answer.from);
  const end = answer.next_from ?? answer.to ?? null;
  const toMs = end === null ? Number.POSITIVE_INFINITY : Date.parse(end);
  const items: readonly Item[] = [...answer.nodes, ...answer.links];
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
    answer,
    fromMs,
    toMs,
    spansById,
    moments: [...moments.values()].sort((a, b) => a.ms - b.ms),
    bends: diagramOf(answer, null).bends,
  };
}

function spansOf({ intervals = [] }: Item): PeriodSpan[] {
  return intervals.map(({ from, to }) => [Date.parse(from), to === null ? Number.POSITIVE_INFINITY : Date.parse(to)]);
}

/** Whether an instant is before it, within it, or after it. @param ms null for now */
export function sideOf({ fromMs, toMs }: Period, ms: number | null): "before" | "within" | "after" {
  if (ms === null) return toMs === Number.POSITIVE_INFINITY ? "within" : "after";
  if (ms < fromMs) return "before";
  return ms > toMs ? "after" : "within";
}

/** The nearest instant of it that something is known of. The end itself belongs to it no more. */
export function withinPeriod({ fromMs, toMs }: Period, ms: number | null): number {
  const last = toMs === Number.POSITIVE_INFINITY ? toMs : toMs - 1;
  return ms === null ? last : Math.min(last, Math.max(fromMs, ms));
}

/** Against the beginning: what was there then, and what has come and gone since. @param ms within the period */
export function presenceAt(spans: readonly PeriodSpan[], fromMs: number, ms: number): Presence {
  const isThereAt = (instant: number) =>
    spans.some(([from, to]) => from <= instant && (instant < to || to === Number.POSITIVE_INFINITY));
  if (isThereAt(ms)) return isThereAt(fromMs) ? "stayed" : "appeared";
  return spans.some(([from]) => from <= ms) ? "vanished" : "later";
}

/** All of the period where it stands, each as it was at an instant. @param ms null for now */
export function diagramAt(period: Period, ms: number | null): Diagram {
  const { answer, fromMs, spansById, bends } = period;
  const instant = withinPeriod(period, ms);
  const presenceOf = ({ id }: Item) => presenceAt(spansById.get(id) ?? [], fromMs, instant);
  return diagramOfItems(
    answer.nodes.map((item) => ({ item, presence: presenceOf(item) })),
    // Its state is told as it was last: that is not how it was then.
    answer.links.map((item) => ({ item, presence: presenceOf(item), status: null })),
    bends,
  );
}

/** The moment before an instant, or after it; null where there is none. @param ms null for now */
export function momentFrom({ moments }: Period, ms: number | null, direction: -1 | 1, by = 1): Moment | null {
  const instant = ms ?? Number.POSITIVE_INFINITY;
  if (direction === -1) {
    const earlier = moments.findLastIndex((each) => each.ms < instant);
    return earlier === -1 ? null : (moments[Math.max(0, earlier - by + 1)] ?? null);
  }
  const later = moments.findIndex((each) => each.ms > instant);
  return later === -1 ? null : (moments[Math.min(moments.length - 1, later + by - 1)] ?? null);
}

/** How many moments there were up to an instant. @param ms null for now */
export function momentsUntil({ moments }: Period, ms: number | null): number {
  return ms === null ? moments.length : moments.filter((each) => each.ms <= ms).length;
}
