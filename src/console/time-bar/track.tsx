// Histogram with markers and handles. Can be dragged anywhere.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../text/digits.ts";
import { at, atMs, vs, vsMs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { addressInstant, formatLocal } from "../time/instant.ts";
import { markerAddress, type NamedInstant } from "../time/markers.ts";
import { ticksOf } from "../time/ticks.ts";
import { histogramPath, instantAt, placeOf, type TimeWindow } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { Handle } from "./handle.tsx";
import { Scrub } from "./scrub.ts";

export interface TrackPart {
  readonly fromMs: number;
  readonly toMs: number;
  readonly total: number;
}

interface TrackProps {
  readonly window: TimeWindow;
  readonly parts: readonly TrackPart[];
  readonly markers: readonly NamedInstant[];
}

/** Distance at which the pointer snaps to a marker or to now. */
const NEAR_PX = 5;
/** Width of an axis label. */
const LABEL_PX = 76;

export const atScrub = new Scrub("at");
export const vsScrub = new Scrub("vs");

export function Track({ window, parts, markers }: TrackProps) {
  const track = useRef<HTMLFieldSetElement>(null);
  const handle = useRef<HTMLElement | null>(null);
  const compared = useRef<HTMLElement | null>(null);
  /** Parameter being dragged. */
  const moved = useRef<Scrub | null>(null);
  const widthPx = useWidth(track);
  const path = useMemo(() => histogramPath(parts, window), [parts, window]);
  const [pointedPx, setPointed] = useState<number | null>(null);
  const pxOf = (event: PointerEvent) => event.clientX - (track.current?.getBoundingClientRect().left ?? 0);
  const instantOf = (px: number) => pointedInstant(px, window, track.current?.clientWidth ?? 1, markers);
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    track.current?.setPointerCapture(event.pointerId);
    const isCompared = event.target instanceof Node && compared.current?.contains(event.target) === true;
    (isCompared ? compared : handle).current?.focus({ preventScroll: true });
    moved.current = isCompared ? vsScrub : atScrub;
    // Grabbing the comparison handle does not move it yet.
    if (!isCompared) atScrub.move(instantOf(pxOf(event)));
  };
  const move = (event: PointerEvent) => {
    setPointed(pxOf(event));
    if (event.buttons === 0) return;
    const instant = instantOf(pxOf(event));
    // The comparison handle cannot be dragged to now; the other handle can.
    if (moved.current === atScrub || instant !== null) moved.current?.move(instant);
  };
  const end = (how: "end" | "cancel") => () => {
    moved.current?.[how]();
    moved.current = null;
  };
  const shownMs = at.value === null ? null : atMs.value;
  const veil = shownMs === null ? null : Math.min(1, Math.max(0, placeOf(shownMs, window)));
  return (
    <div class="track-and-axis">
      <fieldset
        ref={track}
        class="track"
        aria-label="How much changed when"
        onPointerDown={down}
        // Keeps the focus on the handle.
        onMouseDown={(event) => event.preventDefault()}
        onPointerMove={move}
        onPointerUp={end("end")}
        onPointerCancel={end("cancel")}
        onPointerLeave={() => setPointed(null)}
      >
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
          <path d={path} />
        </svg>
        {veil !== null && <div class="veil" style={{ insetInlineStart: `${veil * 100}%` }} />}
        <MarkerTicks window={window} markers={markers} widthPx={widthPx} />
        {vs.value !== null && vsMs.value !== null && (
          <Handle
            window={window}
            ms={vsMs.value}
            label="Compared with"
            scrub={vsScrub}
            handle={(element) => void (compared.current = element)}
          >
            <span aria-hidden="true">A</span>
          </Handle>
        )}
        <Handle
          window={window}
          ms={shownMs}
          label="Instant"
          scrub={atScrub}
          handle={(element) => void (handle.current = element)}
        >
          {vs.value !== null && <span aria-hidden="true">B</span>}
        </Handle>
      </fieldset>
      <Axis window={window} widthPx={widthPx} />
      {pointedPx !== null && widthPx > 0 && (
        <Pointed px={pointedPx} widthPx={widthPx} window={window} parts={parts} markers={markers} />
      )}
    </div>
  );
}

/** In address form; null for now. */
function pointedInstant(
  px: number,
  window: TimeWindow,
  widthPx: number,
  markers: readonly NamedInstant[],
): string | null {
  const marker = nearMarker(px, window, widthPx, markers);
  if (marker !== undefined) return markerAddress(marker);
  const nowPx = placeOf(now.peek(), window) * widthPx;
  if (px >= Math.min(nowPx, widthPx) - NEAR_PX / 2 && nowPx <= widthPx * 2) return null;
  const ms = instantAt(px / widthPx, window, widthPx);
  return ms >= now.peek() ? null : addressInstant(ms);
}

function nearMarker(
  px: number,
  window: TimeWindow,
  widthPx: number,
  markers: readonly NamedInstant[],
): NamedInstant | undefined {
  const distance = ({ ms }: NamedInstant) => Math.abs(placeOf(ms, window) * widthPx - px);
  return markers.filter((each) => distance(each) <= NEAR_PX).toSorted((a, b) => distance(a) - distance(b))[0];
}

interface MarkerTicksProps {
  readonly window: TimeWindow;
  readonly markers: readonly NamedInstant[];
  readonly widthPx: number;
}

/** A name ends at the next tick; without room, only the pointer shows it. */
function MarkerTicks({ window, markers, widthPx }: MarkerTicksProps) {
  const seen = markers
    .map((marker) => ({ marker, place: placeOf(marker.ms, window) }))
    .filter(({ place }) => place >= 0 && place <= 1)
    .toSorted((a, b) => a.place - b.place);
  return (
    <>
      {seen.map(({ marker, place }, position) => {
        const room = ((seen[position + 1]?.place ?? 1) - place) * widthPx - 2;
        return (
          <div key={marker.id} class="marker-tick" style={{ insetInlineStart: `${place * 100}%` }} aria-hidden="true">
            {room >= NAME_PX && <bdi style={{ maxInlineSize: `${Math.min(room, NAME_PX * 7)}px` }}>{marker.name}</bdi>}
          </div>
        );
      })}
    </>
  );
}

/** Minimum width of a marker name. */
const NAME_PX = 36;

function Axis({ window, widthPx }: { readonly window: TimeWindow; readonly widthPx: number }) {
  const timeZone = zone.value;
  const ticks = useMemo(() => ticksOf(window, timeZone, widthPx / LABEL_PX), [window, timeZone, widthPx]);
  if (widthPx === 0) return <div class="axis" />;
  return (
    <div class="axis" aria-hidden="true">
      {ticks
        .map(({ ms, label }) => ({ label, px: placeOf(ms, window) * widthPx }))
        .filter(({ px }) => px >= LABEL_PX / 4 && px <= widthPx - LABEL_PX / 4)
        .map(({ label, px }) => (
          <span key={px} style={{ insetInlineStart: `${px}px` }}>
            {label}
          </span>
        ))}
    </div>
  );
}

interface PointedProps extends TrackProps {
  readonly px: number;
  readonly widthPx: number;
}

/** Time and number of changes at the pointer, shown over the labels. */
function Pointed({ px, widthPx, window, parts, markers }: PointedProps) {
  const ms = instantAt(px / widthPx, window, widthPx);
  const part = parts.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);
  const marker = nearMarker(px, window, widthPx, markers);
  const precision = window.bucketMs < SECOND_MS ? "millisecond" : window.bucketMs < MINUTE_MS ? "second" : "minute";
  const words = [
    ...(marker === undefined ? [] : [marker.name]),
    formatLocal(marker?.ms ?? ms, zone.value, precision),
    ...(part === undefined ? [] : [counted(part.total, "change", "changes")]),
  ];
  const side =
    px > widthPx / 2 ? { insetInlineEnd: `${Math.max(0, widthPx - px)}px` } : { insetInlineStart: `${px}px` };
  return (
    <div class="pointed" style={side} aria-hidden="true">
      {words.map((each) => (
        <bdi key={each}>{each}</bdi>
      ))}
    </div>
  );
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Width of an element in pixels; 0 until measured. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [widthPx, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element]);
  return widthPx;
}
