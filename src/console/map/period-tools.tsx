// Controls for a map period: bounds, current position, stepping and playback. Each step sets the URL's timestamp.

import { type MutableRef, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { useKeys } from "../components/keys.ts";
import { When } from "../components/when.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { atMs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { urlTimestamp } from "../time/instant.ts";
import { Scrub } from "../time-bar/scrub.ts";
import { shownWindow } from "../time-bar/view.ts";
import { hrefHere } from "../url/location.ts";
import { momentsUntil, type Period, sideOf } from "./period.ts";
import { beginningOf, endOf, instantHref, periodHref, stepFrom } from "./period-url.ts";
import type { Control } from "./picture.ts";

/** Link from a single timestamp to the map over the time bar's window. */
export function TimeLapseLink() {
  const window = shownWindow.value;
  if (window === null) return null;
  return (
    <a href={periodHref(window, now.value)} title="Additions and removals in the period of the time bar">
      Time-lapse
    </a>
  );
}

const progressText = (position: number, count: number) =>
  count === 0 ? "No changes." : `${groupedDigits(position)} of ${counted(count, "change", "changes")}`;

export function PeriodTools({ period, control }: Readonly<{ period: Period; control: MutableRef<Control | null> }>) {
  const playback = usePlayback(period);
  usePeriodKeys(playback, control);
  const ms = atMs.value;
  const step = (direction: -1 | 1) => () => playback.step(direction);
  const canStep = (direction: -1 | 1) => stepFrom(period, ms, direction) !== undefined;
  return (
    <div class="map-period">
      <span>
        Period: <PeriodEnd instant={period.response.from ?? null} otherwise="the beginning" />
        {" – "}
        <PeriodEnd instant={period.response.to ?? null} otherwise="now" />
      </span>
      <UseBarPeriod period={period} />
      <a href={instantHref()}>Exit time-lapse</a>
      <span class="map-steps">
        <button type="button" disabled={!canStep(-1)} onClick={step(-1)}>
          Previous change <kbd>p</kbd>
        </button>
        {playback.isPossible && (
          <ActionButton
            label={playback.isOn ? "Pause" : "Play"}
            aria-pressed={playback.isOn}
            onClick={playback.toggle}
          />
        )}
        <button type="button" disabled={!canStep(1)} onClick={step(1)}>
          Next change <kbd>n</kbd>
        </button>
        <span>{progressText(momentsUntil(period, ms), period.moments.length)}</span>
      </span>
      <OutsideNote period={period} />
      {period.response.next_from != null && (
        <p class="note">
          Too many changes for one response. The map ends at{" "}
          <When instant={period.response.next_from} precision="second" />{" "}
          <a href={hrefHere({ from: period.response.next_from, at: null })}>Continue from there</a>
        </p>
      )}
    </div>
  );
}

function PeriodEnd({ instant, otherwise }: { readonly instant: string | null; readonly otherwise: string }) {
  return instant === null ? <span>{otherwise}</span> : <When instant={instant} precision="minute" />;
}

/** Link to the time bar's current window, if it differs from the period. */
function UseBarPeriod({ period }: { readonly period: Period }) {
  const window = shownWindow.value;
  if (window === null) return null;
  const href = periodHref(window, now.value);
  const isSame = period.fromMs === window.from && (period.response.to == null) === window.to >= now.value;
  if (isSame || href === hrefHere({})) return null;
  return <a href={href}>Use the period of the time bar</a>;
}

const NEAREST_END = { before: "Go to the beginning", after: "Go to the end" };

/** Note that the timestamp is outside the period; the map shows the nearest end. */
function OutsideNote({ period }: { readonly period: Period }) {
  const side = sideOf(period, atMs.value);
  // A separate note reports a truncated response.
  if (side === "within" || (side === "after" && period.response.next_from != null)) return null;
  const instant = side === "before" ? beginningOf(period) : endOf(period);
  return (
    <p class="note" role="status">
      {side === "before"
        ? "The selected time is before the period. The map shows the beginning."
        : "The selected time is after the period. The map shows the end."}{" "}
      {instant !== undefined && <a href={hrefHere({ at: instant })}>{NEAREST_END[side]}</a>}
    </p>
  );
}

interface Playback {
  /** False if the user prefers reduced motion; stepping remains. */
  readonly isPossible: boolean;
  readonly isOn: boolean;
  readonly toggle: () => void;
  readonly step: (direction: -1 | 1) => void;
}

/** Interval between steps. */
const STEP_MS = 900;
/** With more changes, each step plays several, so that a year does not take an hour. */
const STEPS_MAX = 80;

function usePlayback(period: Period): Playback {
  const [isOn, setOn] = useState(false);
  const scrub = useMemo(() => new Scrub("at"), []);
  const latest = useRef(period);
  latest.current = period;
  const ms = atMs.value;
  const stepSize = Math.max(1, Math.ceil(period.moments.length / STEPS_MAX));
  const stop = () => {
    setOn(false);
    scrub.end();
  };
  useEffect(() => {
    if (!isOn) return;
    const timer = setTimeout(() => {
      const next = stepFrom(latest.current, ms, 1, stepSize);
      if (next === undefined) stop();
      else scrub.move(next);
    }, STEP_MS);
    return () => clearTimeout(timer);
  }, [isOn, ms, stepSize]);
  return {
    isPossible: period.moments.length > 0 && !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
    isOn,
    toggle: () => {
      if (isOn) stop();
      else {
        // Restart from the beginning after the end.
        const start = stepFrom(period, ms, 1) === undefined ? (beginningOf(period) ?? firstChange(period)) : undefined;
        if (start !== undefined) scrub.move(start);
        setOn(true);
      }
    },
    step: (direction) => {
      setOn(false);
      const next = stepFrom(latest.current, atMs.peek(), direction);
      if (next === undefined) return;
      scrub.move(next);
      scrub.end();
    },
  };
}

function firstChange({ moments: [first] }: Period): string | undefined {
  return first === undefined ? undefined : urlTimestamp(first.ms);
}

function usePeriodKeys({ isPossible, toggle, step }: Playback, control: MutableRef<Control | null>): void {
  // Space also activates the focused control and scrolls the page.
  const space = () => control.current?.hasFocus() === true && toggle();
  useKeys([
    { key: "p", meaning: "Previous change", press: () => step(-1) },
    { key: "n", meaning: "Next change", press: () => step(1) },
    ...(isPossible ? [{ key: " ", meaning: "Play or pause the time-lapse", press: space }] : []),
  ]);
}
