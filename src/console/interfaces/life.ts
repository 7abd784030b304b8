// Status history of an interface as time ranges: status, speed, attached stations. Pure.

import { placeOf, type TimeWindow } from "../time/window.ts";

/** State of an interface from an instant until the next version. */
export interface LifeVersion {
  readonly ms: number;
  readonly isThere: boolean;
  readonly adminStatus: string;
  readonly operStatus: string;
  readonly speedBps: number | null;
  readonly macs: readonly string[];
}

/** Time range with a constant value. */
export interface Piece<Value> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: Value;
}

/** `Disabled` for an admin status of down, `Absent` for a missing interface; else the operational status. */
export function lifeStateOf({ isThere, adminStatus, operStatus }: LifeVersion): string {
  if (!isThere) return "Absent";
  return adminStatus === "Down" ? "Disabled" : operStatus;
}

/**
 * Time ranges of constant value within a window, in order. None before the first version.
 * @param versions oldest first
 */
export function piecesOf<Value extends string | number | boolean | null>(
  versions: readonly LifeVersion[],
  window: TimeWindow,
  valueIn: (version: LifeVersion) => Value,
): Piece<Value>[] {
  const pieces: Piece<Value>[] = [];
  for (const [index, version] of versions.entries()) {
    const fromMs = Math.max(version.ms, window.from);
    const toMs = Math.min(versions[index + 1]?.ms ?? window.to, window.to);
    if (toMs <= fromMs) continue;
    const value = valueIn(version);
    const last = pieces.at(-1);
    if (last !== undefined && last.value === value && last.toMs === fromMs)
      pieces[pieces.length - 1] = { ...last, toMs };
    else pieces.push({ fromMs, toMs, value });
  }
  return pieces;
}

/** MAC address with the time ranges in which it was behind the interface. */
export interface StationLife {
  readonly mac: string;
  readonly pieces: readonly Piece<boolean>[];
  readonly totalMs: number;
}

/** Stations within the window, most recently seen first, then longest present. */
export function stationsOf(versions: readonly LifeVersion[], window: TimeWindow): StationLife[] {
  const found = new Map<string, Piece<boolean>[]>();
  const openSince = new Map<string, number>();
  const close = (mac: string, ms: number) => {
    const [fromMs, toMs] = [Math.max(openSince.get(mac) ?? ms, window.from), Math.min(ms, window.to)];
    openSince.delete(mac);
    if (toMs > fromMs) found.set(mac, [...(found.get(mac) ?? []), { fromMs, toMs, value: true }]);
  };
  for (const { ms, isThere, macs } of versions) {
    const has = new Set(isThere ? macs : []);
    for (const mac of [...openSince.keys()]) if (!has.has(mac)) close(mac, ms);
    for (const mac of has) if (!openSince.has(mac)) openSince.set(mac, ms);
  }
  for (const mac of [...openSince.keys()]) close(mac, window.to);
  const lives = [...found].map(([mac, pieces]) => ({
    mac,
    pieces,
    totalMs: pieces.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
  }));
  const endOf = ({ pieces }: StationLife) => pieces.at(-1)?.toMs ?? 0;
  return lives.sort((a, b) => endOf(b) - endOf(a) || b.totalMs - a.totalMs || (a.mac < b.mac ? -1 : 1));
}

/** Changes at an instant. */
export interface LifeEvent {
  readonly ms: number;
  /** Null if unchanged. */
  readonly state: string | null;
  readonly speedBps: number | null;
  readonly came: readonly string[];
  readonly went: readonly string[];
}

/** Newest first, without versions that changed none of these. */
export function eventsOf(versions: readonly LifeVersion[], window: TimeWindow): LifeEvent[] {
  const events: LifeEvent[] = [];
  for (const [index, version] of versions.entries()) {
    if (version.ms < window.from || version.ms > window.to) continue;
    const before = versions[index - 1];
    const [had, has] = [new Set(before?.isThere ? before.macs : []), new Set(version.isThere ? version.macs : [])];
    const event = {
      ms: version.ms,
      state: before !== undefined && lifeStateOf(before) === lifeStateOf(version) ? null : lifeStateOf(version),
      speedBps: before?.speedBps === version.speedBps || !version.isThere ? null : version.speedBps,
      came: [...has].filter((mac) => !had.has(mac)),
      went: [...had].filter((mac) => !has.has(mac)),
    };
    if (event.state !== null || event.speedBps !== null || event.came.length + event.went.length > 0)
      events.push(event);
  }
  return events.reverse();
}

/** Minimum visible width, so that a flap of one second shows in a month. */
const MIN_WIDTH = 1.5;

/**
 * Time ranges as an SVG path, 1,000 wide and 100 high.
 * @param heightOf height of a value, 0 to 1
 */
export function piecesPath<Value>(
  pieces: readonly Piece<Value>[],
  window: TimeWindow,
  heightOf: (value: Value) => number,
): string {
  return pieces
    .map(({ fromMs, toMs, value }) => {
      const [left, right] = [placeOf(fromMs, window) * 1_000, placeOf(toMs, window) * 1_000];
      const top = 100 * (1 - heightOf(value));
      return `M${tenth(left)} 100V${tenth(top)}H${tenth(Math.max(right, left + MIN_WIDTH))}V100Z`;
    })
    .join("");
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
