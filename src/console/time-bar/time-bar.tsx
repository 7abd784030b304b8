// Time bar above every page: the shown instant, the activity over time, and controls for other instants.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { onForgotten, useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import type { Concern } from "../api/concern.ts";
import { useKeys } from "../parts/keys.ts";
import { timeText } from "../text/time.ts";
import { at, atMs, network, showAt, vs } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, formatUtc } from "../time/instant.ts";
import { markerAddress, markerNameIn, markers } from "../time/markers.ts";
import { PARTS_OF_ANY, windowBetween } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { hrefHere } from "../url/location.ts";
import { type AboutQuery, aboutQuery } from "./about.ts";
import { CompareMenu } from "./compare-menu.tsx";
import { focusHandle } from "./focus.ts";
import { InstantField } from "./instant-field.tsx";
import { LiveNote } from "./live-note.tsx";
import { PastBand } from "./past-band.tsx";
import { RangeChooser } from "./range-chooser.tsx";
import { stepNote, stepToChange } from "./step.ts";
import { atScrub, Track, type TrackPart, vsScrub } from "./track.tsx";
import { keepInView, moveWindow, range, shownWindow, wholeWindow } from "./view.ts";

const field: { current: HTMLInputElement | null } = { current: null };

const KEYS = [
  { key: "[", meaning: "Previous change", press: () => stepToChange(-1) },
  { key: "]", meaning: "Next change", press: () => stepToChange(1) },
  {
    key: "t",
    meaning: "Back to now",
    press: () => {
      if (at.peek() === null) return false;
      showAt(null);
      return true;
    },
  },
  {
    key: "@",
    meaning: "Go to an instant",
    press: () => {
      isUnfolded.value = true;
      // After it becomes visible: hidden elements cannot be focused.
      queueMicrotask(() => field.current?.focus());
    },
  },
];

export function TimeBar() {
  useKeys(KEYS);
  useMarkers();
  useInstantInView();
  const isInPast = at.value !== null || vs.value !== null;
  const isFolded = isFolding.value;
  return (
    <section class={`time-bar${isInPast ? " past-band" : ""}${isFolded ? " is-folding" : ""}`} aria-label="Time">
      {!isFolded && <TimeRow />}
      <div class="band-row">
        <Said isFolded={isFolded} />
        {isFolded ? <FoldButton /> : <Ways />}
      </div>
      {isFolded && (
        <div id="time-tools" class="time-tools" hidden={!isUnfolded.value}>
          <TimeRow />
          <Ways />
        </div>
      )}
      <datalist id="marker-names">
        {(markers.value ?? []).map((marker) => (
          <option key={marker.id} value={markerAddress(marker)}>
            {marker.name}
          </option>
        ))}
      </datalist>
    </section>
  );
}

function TimeRow() {
  return (
    <div class="time-row">
      <button type="button" class="pan" aria-label="Earlier" onClick={() => moveWindow(-1)}>
        ‹
      </button>
      <Histogram />
      <button type="button" class="pan" aria-label="Later" onClick={() => moveWindow(1)}>
        ›
      </button>
    </div>
  );
}

/** Shown instant in words, with the link back to now. */
function Said({ isFolded }: { readonly isFolded: boolean }) {
  return (
    <div class="band-said">
      <PastBand />
      <LiveNote />
      {stepNote.value !== null && (
        <span class="step-note" role="status">
          {stepNote.value}
        </span>
      )}
      {at.value !== null && (
        <a
          class={isFolded ? "button" : undefined}
          href={hrefHere({ at: null })}
          aria-label={isFolded ? "Back to now" : undefined}
          onClick={focusHandle}
        >
          {isFolded ? (
            timeText.now
          ) : (
            <>
              Back to now <kbd>t</kbd>
            </>
          )}
        </a>
      )}
    </div>
  );
}

/** Expands the collapsed bar; the button covers the whole line. */
function FoldButton() {
  return (
    <button
      type="button"
      id="time-fold"
      class="time-fold"
      aria-label="Other instants"
      aria-expanded={isUnfolded.value}
      aria-controls="time-tools"
      onClick={() => (isUnfolded.value = !isUnfolded.peek())}
    />
  );
}

/** Controls for other instants. */
function Ways() {
  return (
    <div class="band-actions">
      <RangeChooser />
      <button type="button" title="Previous change" onClick={() => stepToChange(-1)}>
        <kbd>[</kbd>
        <span class="unseen">Previous change</span>
      </button>
      <button type="button" title="Next change" onClick={() => stepToChange(1)}>
        <kbd>]</kbd>
        <span class="unseen">Next change</span>
      </button>
      <InstantField
        label="Go to an instant"
        shown={shownInField()}
        title={atMs.value === null ? undefined : timeText.inUtc(formatUtc(atMs.value))}
        field={(element) => void (field.current = element)}
        choose={(instant) => showAt(instant)}
      />
      <CompareMenu />
    </div>
  );
}

function shownInField(): string {
  if (at.value === null) return "";
  const name = markerNameIn(at.value);
  if (name !== null || atMs.value === null) return at.value;
  return formatLocal(atMs.value, zone.value, atMs.value % 1_000 === 0 ? "second" : "millisecond");
}

/** Infrequent: the histogram is expensive and adds little to the page. */
const HISTOGRAM_EVERY_MS = 5_000;

/** Live filter. A write cannot be attributed to a subnet from its changes: any write may affect one. */
function concernOf({ subnet_id, ...concern }: AboutQuery): Concern {
  return subnet_id === undefined ? concern : {};
}

type Activity = DataOf<"/api/v1/activity">;

function Histogram() {
  const isWhole = range.value === "all";
  const wanted = isWhole ? null : shownWindow.value;
  const { data } = useAnswer(
    read("/api/v1/activity", {
      query: {
        ...aboutQuery.value,
        group_by: "time",
        ...(wanted === null
          ? { buckets: PARTS_OF_ANY }
          : {
              from: formatUtc(wanted.from),
              to: formatUtc(wanted.to),
              buckets: Math.round((wanted.to - wanted.from) / wanted.bucketMs),
            }),
      },
    }),
    wanted === null || wanted.to >= exactNow()
      ? { how: "refresh", everyMs: HISTOGRAM_EVERY_MS, ...concernOf(aboutQuery.value) }
      : null,
  );
  useEffect(() => {
    if (isWhole && data !== undefined) wholeWindow.value = windowBetween(Date.parse(data.from), Date.parse(data.to));
  }, [isWhole, data]);
  const window = shownWindow.value;
  if (window === null) return <div class="track-and-axis" />;
  return <Track window={window} parts={partsOf(data)} markers={seenMarkers()} />;
}

function partsOf(data: Activity | undefined): TrackPart[] {
  return (data?.groups ?? []).flatMap((group) =>
    "from" in group && "to" in group
      ? [{ fromMs: Date.parse(group.from), toMs: Date.parse(group.to), total: group.total }]
      : [],
  );
}

/** Markers of the organization and of the selected network. */
function seenMarkers() {
  const chosen = network.value;
  return (markers.value ?? []).filter(
    ({ networkId, ms }) => ms <= exactNow() && (chosen === null || networkId === null || networkId === chosen),
  );
}

const MARKERS = read("/api/v1/markers", { query: { limit: 500, order_by: "at", order_direction: "desc" } });

const LIVE_MARKERS = { how: "refresh", types: ["marker"] } as const;

onForgotten(() => {
  markers.value = undefined;
});

function useMarkers(): void {
  const { data } = useAnswer(MARKERS, LIVE_MARKERS);
  useEffect(() => {
    if (data === undefined) return;
    markers.value = data.map(({ id, name, at: instant, network_id }) => ({
      id,
      name,
      ms: Date.parse(instant),
      networkId: network_id,
    }));
  }, [data]);
}

/** Keeps the shown instant in the window, except while a handle is dragged. */
function useInstantInView(): void {
  const ms = atMs.value;
  const isNow = at.value === null;
  useEffect(() => {
    if (!atScrub.isMoving && !vsScrub.isMoving && (isNow || ms !== null)) keepInView(ms);
  }, [ms, isNow]);
}

/** As in styles/time-bar.css: phones in either orientation, and windows at high zoom. */
const LITTLE_ROOM = "(max-width: 48rem), (max-height: 26rem)";

const room = window.matchMedia(LITTLE_ROOM);

/** Whether the bar is a single line. */
const isFolding = signal(room.matches);
room.addEventListener("change", () => (isFolding.value = room.matches));

/** Whether the collapsed part is open. Persists across pages until closed. */
const isUnfolded = signal(false);
