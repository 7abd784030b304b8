// Controls of a map period: its bounds, the position in it, stepping and playback. Each step sets the URL's timestamp.

import type { MutableRef } from "preact/hooks";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../parts/keys.ts";
import { When } from "../parts/when.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { atMs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { addressInstant } from "../time/instant.ts";
import { Scrub } from "../time-bar/scrub.ts";
import { shownWindow } from "../time-bar/view.ts";
import { hrefHere } from "../url/location.ts";
import { momentsUntil, type Period, sideOf } from "./period.ts";
import { beginningOf, endOf, instantHref, periodHref, stepFrom } from "./period-address.ts";
import type { Control } from "./picture.ts";

/** Link from a single timestamp to the map over the time bar's window. */
export function PeriodOffer() {
  const window = shownWindow.value;
  if (window === null) return null;
  return (
    <a href={periodHref(window, now.value)} title="What came and what went in the time that the bar shows, and when">
      Time-lapse
    </a>
  );
}

interface PeriodToolsProps {
  readonly period: Period;
  readonly control: MutableRef<Control | null>;
}

const momentOf = (place: number, count: number) =>
  count === 0 ? "Nothing came or went." : `${groupedDigits(place)} of ${counted(count, "change", "changes")}`;

export function PeriodTools({ period, control }: PeriodToolsProps) {
  const play = usePlay(period);
  usePeriodKeys(play, control);
  const ms = atMs.value;
  const step = (direction: -1 | 1) => () => play.step(direction);
  const isStep = (direction: -1 | 1) => stepFrom(period, ms, direction) !== undefined;
  return (
    <div class="map-period">
      <span>
        Period: <End instant={period.answer.from ?? null} otherwise="the beginning" />
        {" – "}
        <End instant={period.answer.to ?? null} otherwise="now" />
      </span>
      <AsInBar period={period} />
      <a href={instantHref()}>Exit time-lapse</a>
      <span class="map-steps">
        <button type="button" disabled={!isStep(-1)} onClick={step(-1)}>
          Change before <kbd>p</kbd>
        </button>
        {play.isPossible && (
          <button type="button" aria-pressed={play.isOn} onClick={play.turn}>
            {play.isOn ? "Pause" : "Play"}
          </button>
        )}
        <button type="button" disabled={!isStep(1)} onClick={step(1)}>
          Change after <kbd>n</kbd>
        </button>
        <span>{momentOf(momentsUntil(period, ms), period.moments.length)}</span>
      </span>
      <Outside period={period} />
      {period.answer.next_from != null && (
        <p class="note">
          Too much changed for one answer. The map ends at <When instant={period.answer.next_from} precision="second" />{" "}
          <a href={hrefHere({ from: period.answer.next_from, at: null })}>Go on from there</a>
        </p>
      )}
    </div>
  );
}

function End({ instant, otherwise }: { readonly instant: string | null; readonly otherwise: string }) {
  return instant === null ? <span>{otherwise}</span> : <When instant={instant} precision="minute" />;
}

/** Link to the time bar's current window, if it differs from the period. */
function AsInBar({ period }: { readonly period: Period }) {
  const window = shownWindow.value;
  if (window === null) return null;
  const href = periodHref(window, now.value);
  const isSame = period.fromMs === window.from && (period.answer.to == null) === window.to >= now.value;
  if (isSame || href === hrefHere({})) return null;
  return <a href={href}>Show the period of the bar</a>;
}

const TO_NEAREST = { before: "Go to the beginning", after: "Go to the end" };

/** Note that the timestamp is outside the period; the map shows the nearest end. */
function Outside({ period }: { readonly period: Period }) {
  const side = sideOf(period, atMs.value);
  // A separate note reports a truncated response.
  if (side === "within" || (side === "after" && period.answer.next_from != null)) return null;
  const instant = side === "before" ? beginningOf(period) : endOf(period);
  return (
    <p class="note" role="status">
      {side === "before"
        ? "The instant is before the period. The map shows the beginning."
        : "The instant is after the period. The map shows the end."}{" "}
      {instant !== undefined && <a href={hrefHere({ at: instant })}>{TO_NEAREST[side]}</a>}
    </p>
  );
}

interface Play {
  /** False if the user prefers reduced motion; stepping remains. */
  readonly isPossible: boolean;
  readonly isOn: boolean;
  readonly turn: () => void;
  readonly step: (direction: -1 | 1) => void;
}

/** Interval between steps. */
const PACE_MS = 900;
/** More changes are played several per step, so that a year does not take an hour. */
const STEPS_MAX = 80;

function usePlay(period: Period): Play {
  const [isOn, setOn] = useState(false);
  const scrub = useMemo(() => new Scrub("at"), []);
  const latest = useRef(period);
  latest.current = period;
  const ms = atMs.value;
  const by = Math.max(1, Math.ceil(period.moments.length / STEPS_MAX));
  const stop = () => {
    setOn(false);
    scrub.end();
  };
  useEffect(() => {
    if (!isOn) return;
    const timer = setTimeout(() => {
      const next = stepFrom(latest.current, ms, 1, by);
      if (next === undefined) stop();
      else scrub.move(next);
    }, PACE_MS);
    return () => clearTimeout(timer);
  }, [isOn, ms, by]);
  return {
    isPossible: period.moments.length > 0 && !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
    isOn,
    turn: () => {
      if (isOn) stop();
      else {
        // Restart from the beginning after the end.
        const start = stepFrom(period, ms, 1) === undefined ? (beginningOf(period) ?? firstOf(period)) : undefined;
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

function firstOf({ moments: [first] }: Period): string | undefined {
  return first === undefined ? undefined : addressInstant(first.ms);
}

function usePeriodKeys(play: Play, control: MutableRef<Control | null>): void {
  const latest = useRef(play);
  latest.current = play;
  const isPossible = play.isPossible;
  const keys = useMemo(
    () => [
      { key: "p", meaning: "Change before", press: () => latest.current.step(-1) },
      { key: "n", meaning: "Change after", press: () => latest.current.step(1) },
      ...(isPossible
        ? [
            {
              key: " ",
              meaning: "Play the period, or pause",
              // Space also activates the focused control and scrolls the page.
              press: () => {
                if (control.current?.hasFocus() !== true) return false;
                latest.current.turn();
              },
            },
          ]
        : []),
    ],
    [isPossible, control],
  );
  useKeys(keys);
}
