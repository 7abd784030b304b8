// Histogram with markers and handles. Can be dragged anywhere.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../text/digits.ts";
import { at, atMs, vs, vsMs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { formatLocal, MINUTE_MS, SECOND_MS, urlTimestamp } from "../time/instant.ts";
import { markerParameter, type NamedInstant } from "../time/markers.ts";
import { ticksOf } from "../time/ticks.ts";
import { type HistogramPart, histogramPath, instantAt, positionOf, type TimeWindow } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { Handle } from "./handle.tsx";
import { Scrub } from "./scrub.ts";

interface TrackProps {
  readonly window: TimeWindow;
  readonly parts: readonly HistogramPart[];
  readonly markers: readonly NamedInstant[];
}

type MarkerScale = Omit<TrackProps, "parts"> & { readonly widthPx: number };

/** Distance at which the pointer snaps to a marker or to now. */
const SNAP_PX = 5;
/** Width of an axis label. */
const LABEL_PX = 76;

export const atScrub = new Scrub("at");
export const vsScrub = new Scrub("vs");

export function Track({ window, parts, markers }: TrackProps) {
  const track = useRef<HTMLFieldSetElement>(null);
  const handle = useRef<HTMLElement | null>(null);
  const compared = useRef<HTMLElement | null>(null);
  /** Parameter being dragged. */
  const dragged = useRef<Scrub | null>(null);
  const widthPx = useWidth(track);
  const path = useMemo(() => histogramPath(parts, window), [parts, window]);
  const [pointerPx, setPointerPx] = useState<number | null>(null);
  const pxOf = (event: PointerEvent) => event.clientX - (track.current?.getBoundingClientRect().left ?? 0);
  const instantOf = (px: number) => pointerInstant(px, { window, widthPx: track.current?.clientWidth ?? 1, markers });
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    track.current?.setPointerCapture(event.pointerId);
    const isCompared = event.target instanceof Node && compared.current?.contains(event.target) === true;
    (isCompared ? compared : handle).current?.focus({ preventScroll: true });
    dragged.current = isCompared ? vsScrub : atScrub;
    // Grabbing the comparison handle does not move it yet.
    if (!isCompared) atScrub.move(instantOf(pxOf(event)));
  };
  const move = (event: PointerEvent) => {
    setPointerPx(pxOf(event));
    if (event.buttons === 0) return;
    const instant = instantOf(pxOf(event));
    // The comparison handle cannot be dragged to now; the other handle can.
    if (dragged.current === atScrub || instant !== null) dragged.current?.move(instant);
  };
  const end = (method: "end" | "cancel") => () => {
    dragged.current?.[method]();
    dragged.current = null;
  };
  const shownMs = at.value === null ? null : atMs.value;
  const shadeStart = shownMs === null ? null : Math.min(1, Math.max(0, positionOf(shownMs, window)));
  return (
    <div class="track-and-axis">
      <fieldset
        ref={track}
        class="track"
        aria-label="Activity over time"
        onPointerDown={down}
        // Keeps the focus on the handle.
        onMouseDown={(event) => event.preventDefault()}
        onPointerMove={move}
        onPointerUp={end("end")}
        onPointerCancel={end("cancel")}
        onPointerLeave={() => setPointerPx(null)}
      >
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
          <path d={path} />
        </svg>
        {shadeStart !== null && <div class="future-shade" style={{ insetInlineStart: `${shadeStart * 100}%` }} />}
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
      {pointerPx !== null && widthPx > 0 && (
        <PointerLabel px={pointerPx} widthPx={widthPx} window={window} parts={parts} markers={markers} />
      )}
    </div>
  );
}

/** Instant at the pointer, in URL form; null for now. */
function pointerInstant(px: number, scale: MarkerScale): string | null {
  const { window, widthPx } = scale;
  const marker = nearestMarker(px, scale);
  if (marker !== undefined) return markerParameter(marker);
  const nowPx = positionOf(now.peek(), window) * widthPx;
  if (px >= Math.min(nowPx, widthPx) - SNAP_PX / 2 && nowPx <= widthPx * 2) return null;
  const ms = instantAt(px / widthPx, window, widthPx);
  return ms >= now.peek() ? null : urlTimestamp(ms);
}

function nearestMarker(px: number, { window, widthPx, markers }: MarkerScale): NamedInstant | undefined {
  const distance = ({ ms }: NamedInstant) => Math.abs(positionOf(ms, window) * widthPx - px);
  return markers.filter((marker) => distance(marker) <= SNAP_PX).toSorted((a, b) => distance(a) - distance(b))[0];
}

/** Names are clipped at the next tick; without room, only hovering shows the name. */
function MarkerTicks({ window, markers, widthPx }: MarkerScale) {
  const visible = markers
    .map((marker) => ({ marker, fraction: positionOf(marker.ms, window) }))
    .filter(({ fraction }) => fraction >= 0 && fraction <= 1)
    .toSorted((a, b) => a.fraction - b.fraction);
  return (
    <>
      {visible.map(({ marker, fraction }, index) => {
        const available = ((visible[index + 1]?.fraction ?? 1) - fraction) * widthPx - 2;
        return (
          <div
            key={marker.id}
            class="marker-tick"
            style={{ insetInlineStart: `${fraction * 100}%` }}
            aria-hidden="true"
          >
            {available >= NAME_PX && (
              <bdi style={{ maxInlineSize: `${Math.min(available, NAME_PX * 7)}px` }}>{marker.name}</bdi>
            )}
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
        .map(({ ms, label }) => ({ label, px: positionOf(ms, window) * widthPx }))
        .filter(({ px }) => px >= LABEL_PX / 4 && px <= widthPx - LABEL_PX / 4)
        .map(({ label, px }) => (
          <span key={px} style={{ insetInlineStart: `${px}px` }}>
            {label}
          </span>
        ))}
    </div>
  );
}

/** Time and number of changes at the pointer, shown over the labels. */
function PointerLabel({ px, parts, ...scale }: TrackProps & MarkerScale & { readonly px: number }) {
  const { window, widthPx } = scale;
  const ms = instantAt(px / widthPx, window, widthPx);
  const part = parts.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);
  const marker = nearestMarker(px, scale);
  const precision = window.bucketMs < SECOND_MS ? "millisecond" : window.bucketMs < MINUTE_MS ? "second" : "minute";
  const lines = [
    ...(marker === undefined ? [] : [marker.name]),
    formatLocal(marker?.ms ?? ms, zone.value, precision),
    ...(part === undefined ? [] : [counted(part.total, "change", "changes")]),
  ];
  const side =
    px > widthPx / 2 ? { insetInlineEnd: `${Math.max(0, widthPx - px)}px` } : { insetInlineStart: `${px}px` };
  return (
    <div class="pointed" style={side} aria-hidden="true">
      {lines.map((line) => (
        <bdi key={line}>{line}</bdi>
      ))}
    </div>
  );
}

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
