// Input for a timestamp in any notation. Asks which one is meant if a clock change repeats or skips the local time.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { timeInputText, timeText } from "../text/time.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, formatUtc, urlTimestamp } from "../time/instant.ts";
import { markerNamed, markerParameter, markers } from "../time/markers.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
import { zone } from "../time/zone.ts";

interface InstantFieldProps {
  readonly label: string;
  /** Initial text. */
  readonly shown: string;
  /** Tooltip: the same timestamp in UTC. */
  readonly title?: string | undefined;
  readonly field?: (element: HTMLInputElement | null) => void;
  /** @param instant as in the URL; null for now */
  readonly choose: (instant: string | null) => void;
}

interface Ambiguity {
  readonly sentence: string;
  readonly choices: readonly number[];
}

export function InstantField({ label, shown, title, field, choose }: InstantFieldProps) {
  const [ambiguity, setAmbiguity] = useState<Ambiguity | null>(null);
  const input = useRef<HTMLInputElement>(null);
  // Before painting: later the user may already be typing.
  useLayoutEffect(() => {
    // A new timestamp in the URL replaces the text; the field keeps the focus.
    if (input.current !== null) input.current.value = shown;
    setAmbiguity(null);
  }, [shown]);
  const apply = (instant: string | null) => {
    setAmbiguity(null);
    choose(instant);
  };
  const resolve = () => {
    const text = input.current?.value.trim() ?? "";
    if (text === shown) return;
    const result = parseInput(text);
    if (typeof result === "object" && result !== null) setAmbiguity(result);
    else apply(result);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    resolve();
  };
  // A marker may have been typed before the markers were loaded.
  const areMarkersLoaded = markers.value !== undefined;
  useLayoutEffect(() => {
    if (areMarkersLoaded && ambiguity !== null) resolve();
  }, [areMarkersLoaded]);
  const restore = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || input.current === null) return;
    event.stopPropagation();
    input.current.value = shown;
    setAmbiguity(null);
  };
  return (
    <form class="instant-field" onSubmit={submit}>
      <input
        ref={(element) => {
          input.current = element;
          field?.(element);
        }}
        type="text"
        title={title}
        aria-label={label}
        aria-invalid={ambiguity !== null}
        placeholder="-24h, 2026-03-01 03:12"
        list="marker-names"
        autoComplete="off"
        spellcheck={false}
        maxLength={300}
        onFocus={(event) => event.currentTarget.select()}
        onKeyDown={restore}
      />
      {ambiguity !== null && (
        <div class="instant-unclear" role="alert">
          <span>{ambiguity.sentence}</span>
          {ambiguity.choices.map((ms) => (
            <button type="button" key={ms} onClick={() => apply(urlTimestamp(ms))}>
              {timeInputText.which(formatLocal(ms, zone.value), formatUtc(ms).slice(11, 19))}
            </button>
          ))}
        </div>
      )}
    </form>
  );
}

/** Typed timestamp in URL form; null for now; else the reason why it is unclear. */
function parseInput(text: string): string | null | Ambiguity {
  const parsed = parseTimeInput(text, { nowMs: exactNow(), timeZone: zone.peek() });
  switch (parsed.type) {
    case "now":
      return null;
    case "instant":
      return urlTimestamp(parsed.ms);
    case "marker":
      return markerOrAmbiguity(parsed.name);
    case "repeated":
      return { sentence: timeInputText.repeated, choices: parsed.instants };
    case "skipped":
      return { sentence: timeInputText.skipped, choices: [parsed.substitute] };
    case "unreadable": {
      const marker = markerNamed(text);
      return marker === undefined ? { sentence: timeInputText.unreadable, choices: [] } : markerParameter(marker);
    }
  }
}

function markerOrAmbiguity(name: string): string | Ambiguity {
  const marker = markerNamed(name);
  if (marker !== undefined) return markerParameter(marker);
  // Before the markers are loaded, the appliance validates the name.
  return markers.peek() === undefined ? `marker:${name}` : { sentence: timeText.noSuchMarker(name), choices: [] };
}
