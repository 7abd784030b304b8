// Time bar above every page: the shown timestamp, the activity over time, and controls for other timestamps.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ChangeFilter } from "../api/change-filter.ts";
import { type DataOf, read } from "../api/client.ts";
import { onResponsesCleared, useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { useKeys } from "../components/keys.ts";
import { timeText } from "../text/time.ts";
import { at, atMs, network, showAt, vs } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, formatUtc } from "../time/instant.ts";
import { markerNameIn, markerParameter, markers } from "../time/markers.ts";
import { isSubjectKnown } from "../time/subject.ts";
import { CUSTOM_BUCKETS, type HistogramPart, windowBetween } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import { hrefHere } from "../url/location.ts";
import { type ActivityScope, activityScope } from "./activity-scope.ts";
import { CompareMenu } from "./compare-menu.tsx";
import { focusHandle } from "./focus.ts";
import { InstantField } from "./instant-field.tsx";
import { LiveNote } from "./live-note.tsx";
import { RangeChooser } from "./range-chooser.tsx";
import { stepNote, stepToChange } from "./step.ts";
import { TimeBanner } from "./time-banner.tsx";
import { atScrub, Track, vsScrub } from "./track.tsx";
import { fullWindow, keepInView, moveWindow, range, shownWindow } from "./view.ts";

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
    meaning: "Go to a time",
    press: () => {
      isExpanded.value = true;
      // After it becomes visible: hidden elements cannot be focused.
      queueMicrotask(() => field.current?.focus());
    },
  },
];

/** @param isReadOnly whether the appliance serves a backup */
export function TimeBar({ isReadOnly }: { readonly isReadOnly: boolean }) {
  useKeys(KEYS);
  useMarkers();
  useInstantInView();
  const isInPast = at.value !== null || vs.value !== null;
  const isCollapsed = isCompact.value;
  return (
    <section class={`time-bar${isInPast ? " past-band" : ""}${isCollapsed ? " is-folding" : ""}`} aria-label="Time">
      {!isCollapsed && <TimeRow />}
      <div class="band-row">
        <ShownTime isCollapsed={isCollapsed} isReadOnly={isReadOnly} />
        {isCollapsed ? <ExpandButton /> : <TimeControls />}
      </div>
      {isCollapsed && (
        <div id="time-tools" class="time-tools" hidden={!isExpanded.value}>
          <TimeRow />
          <TimeControls />
        </div>
      )}
      <datalist id="marker-names">
        {(markers.value ?? []).map((marker) => (
          <option key={marker.id} value={markerParameter(marker)}>
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
      <ActionButton label="‹" class="pan" aria-label="Earlier" onClick={() => moveWindow(-1)} />
      <Histogram />
      <ActionButton label="›" class="pan" aria-label="Later" onClick={() => moveWindow(1)} />
    </div>
  );
}

/** Shown timestamp in words, with the link back to now. */
function ShownTime({ isCollapsed, isReadOnly }: Readonly<Record<"isCollapsed" | "isReadOnly", boolean>>) {
  return (
    <div class="band-said">
      <TimeBanner />
      <LiveNote isReadOnly={isReadOnly} />
      {stepNote.value !== null && (
        <span class="step-note" role="status">
          {stepNote.value}
        </span>
      )}
      {at.value !== null && (
        <a
          class={isCollapsed ? "button" : undefined}
          href={hrefHere({ at: null })}
          aria-label={isCollapsed ? "Back to now" : undefined}
          onClick={focusHandle}
        >
          {isCollapsed ? (
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
function ExpandButton() {
  return (
    <button
      type="button"
      id="time-fold"
      class="time-fold"
      aria-label="Other times"
      aria-expanded={isExpanded.value}
      aria-controls="time-tools"
      onClick={() => (isExpanded.value = !isExpanded.peek())}
    />
  );
}

/** Controls for other timestamps. */
function TimeControls() {
  return (
    <div class="band-actions">
      <RangeChooser />
      <button type="button" title="Previous change" onClick={() => stepToChange(-1)}>
        <kbd>[</kbd>
        <span class="visually-hidden">Previous change</span>
      </button>
      <button type="button" title="Next change" onClick={() => stepToChange(1)}>
        <kbd>]</kbd>
        <span class="visually-hidden">Next change</span>
      </button>
      <InstantField
        label="Go to a time"
        shown={fieldText()}
        title={atMs.value === null ? undefined : timeText.inUtc(formatUtc(atMs.value))}
        field={(element) => void (field.current = element)}
        choose={(instant) => showAt(instant)}
      />
      <CompareMenu />
    </div>
  );
}

function fieldText(): string {
  if (at.value === null) return "";
  const name = markerNameIn(at.value);
  if (name !== null || atMs.value === null) return at.value;
  return formatLocal(atMs.value, zone.value, atMs.value % 1_000 === 0 ? "second" : "millisecond");
}

/** Infrequent: the histogram is expensive and adds little to the page. */
const HISTOGRAM_REFRESH_MS = 30_000;

/** Live filter. Changes do not name the subnets they affect, so any change may concern a subnet. */
function liveScope({ subnet_id, ...scope }: ActivityScope): ChangeFilter {
  return subnet_id === undefined ? scope : {};
}

type Activity = DataOf<"/api/v1/activity">;

function Histogram() {
  const isAllTime = range.value === "all";
  const requestedWindow = isAllTime ? null : shownWindow.value;
  const request = read("/api/v1/activity", {
    query: {
      ...activityScope.value,
      group_by: "time",
      ...(requestedWindow === null
        ? { buckets: CUSTOM_BUCKETS }
        : {
            from: formatUtc(requestedWindow.from),
            to: formatUtc(requestedWindow.to),
            buckets: Math.round((requestedWindow.to - requestedWindow.from) / requestedWindow.bucketMs),
          }),
    },
  });
  const { data } = useResponse(
    isSubjectKnown.value ? request : null,
    requestedWindow === null || requestedWindow.to >= exactNow()
      ? { how: "refresh", everyMs: HISTOGRAM_REFRESH_MS, isBackground: true, ...liveScope(activityScope.value) }
      : null,
  );
  useEffect(() => {
    if (isAllTime && data !== undefined) fullWindow.value = windowBetween(Date.parse(data.from), Date.parse(data.to));
  }, [isAllTime, data]);
  const window = shownWindow.value;
  if (window === null) return <div class="track-and-axis" />;
  return <Track window={window} parts={partsOf(data)} markers={visibleMarkers()} />;
}

function partsOf(data: Activity | undefined): HistogramPart[] {
  return (data?.groups ?? []).flatMap((group) =>
    "from" in group && "to" in group
      ? [{ fromMs: Date.parse(group.from), toMs: Date.parse(group.to), total: group.total }]
      : [],
  );
}

/** Markers of the organization and of the selected network. */
function visibleMarkers() {
  const isVisible = (networkId: string | null) => network.value === null || [null, network.value].includes(networkId);
  return (markers.value ?? []).filter(({ networkId, ms }) => ms <= exactNow() && isVisible(networkId));
}

const MARKERS = read("/api/v1/markers", { query: { limit: 500, order_by: "at", order_direction: "desc" } });

const LIVE_MARKERS = { how: "refresh", types: ["marker"] } as const;

onResponsesCleared(() => {
  markers.value = undefined;
});

function useMarkers(): void {
  const { data } = useResponse(MARKERS, LIVE_MARKERS);
  useEffect(() => {
    if (data === undefined) return;
    markers.value = data.map(({ id, name, at: instant, network_id: networkId }) => {
      return { id, name, ms: Date.parse(instant), networkId };
    });
  }, [data]);
}

/** Keeps the shown timestamp in the window, except while a handle is dragged. */
function useInstantInView(): void {
  const ms = atMs.value;
  const isNow = at.value === null;
  useEffect(() => {
    if (!atScrub.isMoving && !vsScrub.isMoving && (isNow || ms !== null)) keepInView(ms);
  }, [ms, isNow]);
}

/** As in styles/time-bar.css: phones in either orientation, and windows at high zoom. */
const COMPACT_QUERY = "(max-width: 48rem), (max-height: 26rem)";

const compactQuery = window.matchMedia(COMPACT_QUERY);

/** Whether the bar is a single line. */
const isCompact = signal(compactQuery.matches);
compactQuery.addEventListener("change", () => (isCompact.value = compactQuery.matches));

/** Whether the collapsed part is open. Persists across pages until closed. */
const isExpanded = signal(false);
