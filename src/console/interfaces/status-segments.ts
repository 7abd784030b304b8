// Status history of an interface as time ranges: status, speed, attached stations. Pure.

import { positionOf, type TimeWindow } from "../time/window.ts";

/** State of an interface from a timestamp until the next version. */
export interface StatusVersion {
  readonly ms: number;
  readonly isPresent: boolean;
  readonly adminStatus: string;
  readonly operStatus: string;
  readonly speedBps: number | null;
  readonly macs: readonly string[];
}

/** Time range with a constant value. */
export interface Segment<Value> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: Value;
}

/** `Disabled` for an admin status of down, `Absent` for a missing interface; else the operational status. */
export function interfaceState({ isPresent, adminStatus, operStatus }: StatusVersion): string {
  if (!isPresent) return "Absent";
  return adminStatus === "Down" ? "Disabled" : operStatus;
}

/**
 * Time ranges of constant value within a window, in order. None before the first version.
 * @param versions oldest first
 */
export function segmentsOf<Value extends string | number | boolean | null>(
  versions: readonly StatusVersion[],
  window: TimeWindow,
  readValue: (version: StatusVersion) => Value,
): Segment<Value>[] {
  const segments: Segment<Value>[] = [];
  for (const [index, version] of versions.entries()) {
    const fromMs = Math.max(version.ms, window.from);
    const toMs = Math.min(versions[index + 1]?.ms ?? window.to, window.to);
    if (toMs <= fromMs) continue;
    const value = readValue(version);
    const last = segments.at(-1);
    if (last !== undefined && last.value === value && last.toMs === fromMs)
      segments[segments.length - 1] = { ...last, toMs };
    else segments.push({ fromMs, toMs, value });
  }
  return segments;
}

/** MAC address with the time ranges in which it was behind the interface. */
export interface StationPresence {
  readonly mac: string;
  readonly segments: readonly Segment<boolean>[];
  readonly totalMs: number;
}

/** Stations within the window, most recently seen first, then longest present. */
export function stationsOf(versions: readonly StatusVersion[], window: TimeWindow): StationPresence[] {
  const segmentsByMac = new Map<string, Segment<boolean>[]>();
  const openSince = new Map<string, number>();
  const close = (mac: string, ms: number) => {
    const [fromMs, toMs] = [Math.max(openSince.get(mac) ?? ms, window.from), Math.min(ms, window.to)];
    openSince.delete(mac);
    if (toMs > fromMs) segmentsByMac.set(mac, [...(segmentsByMac.get(mac) ?? []), { fromMs, toMs, value: true }]);
  };
  for (const { ms, isPresent, macs } of versions) {
    const current = new Set(isPresent ? macs : []);
    for (const mac of [...openSince.keys()]) if (!current.has(mac)) close(mac, ms);
    for (const mac of current) if (!openSince.has(mac)) openSince.set(mac, ms);
  }
  for (const mac of [...openSince.keys()]) close(mac, window.to);
  const presences = [...segmentsByMac].map(([mac, segments]) => ({
    mac,
    segments,
    totalMs: segments.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
  }));
  const endOf = ({ segments }: StationPresence) => segments.at(-1)?.toMs ?? 0;
  return presences.sort((a, b) => endOf(b) - endOf(a) || b.totalMs - a.totalMs || (a.mac < b.mac ? -1 : 1));
}

/** Changes of an interface at one timestamp. */
export interface StatusEvent {
  readonly ms: number;
  /** Null if unchanged. */
  readonly state: string | null;
  readonly speedBps: number | null;
  readonly appeared: readonly string[];
  readonly disappeared: readonly string[];
}

/** Events in the window, newest first, without versions that change nothing shown. */
export function eventsOf(versions: readonly StatusVersion[], window: TimeWindow): StatusEvent[] {
  const events: StatusEvent[] = [];
  for (const [index, version] of versions.entries()) {
    if (version.ms < window.from || version.ms > window.to) continue;
    const previousVersion = versions[index - 1];
    const [previous, current] = [
      new Set(previousVersion?.isPresent ? previousVersion.macs : []),
      new Set(version.isPresent ? version.macs : []),
    ];
    const event = {
      ms: version.ms,
      state:
        previousVersion !== undefined && interfaceState(previousVersion) === interfaceState(version)
          ? null
          : interfaceState(version),
      speedBps: previousVersion?.speedBps === version.speedBps || !version.isPresent ? null : version.speedBps,
      appeared: [...current].filter((mac) => !previous.has(mac)),
      disappeared: [...previous].filter((mac) => !current.has(mac)),
    };
    if (event.state !== null || event.speedBps !== null || event.appeared.length + event.disappeared.length > 0)
      events.push(event);
  }
  return events.reverse();
}

/** Minimum visible width, so that a flap of one second shows in a month. */
const MIN_WIDTH = 1.5;

/** Time ranges as an SVG path, 1,000 wide and 100 high. @param heightOf height of a value, 0 to 1 */
export function segmentsPath<Value>(
  segments: readonly Segment<Value>[],
  window: TimeWindow,
  heightOf: (value: Value) => number,
): string {
  return segments
    .map(({ fromMs, toMs, value }) => {
      const [left, right] = [positionOf(fromMs, window) * 1_000, positionOf(toMs, window) * 1_000];
      const top = 100 * (1 - heightOf(value));
      return `M${roundedToTenth(left)} 100V${roundedToTenth(top)}H${roundedToTenth(Math.max(right, left + MIN_WIDTH))}V100Z`;
    })
    .join("");
}

function roundedToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
