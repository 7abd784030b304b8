// Input for an instant in any notation. Asks about local times repeated by a clock change, and reports skipped ones.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { saidText, timeText } from "../text/time.ts";
import { exactNow } from "../time/clock.ts";
import { addressInstant, formatLocal, formatUtc } from "../time/instant.ts";
import { markerAddress, markerNamed, markers } from "../time/markers.ts";
import { readSaid } from "../time/said.ts";
import { zone } from "../time/zone.ts";

interface InstantFieldProps {
  readonly label: string;
  /** Initial text. */
  readonly shown: string;
  /** Tooltip: the same instant in UTC. */
  readonly title?: string | undefined;
  readonly field?: (element: HTMLInputElement | null) => void;
  /** @param instant as in the address; null for now */
  readonly choose: (instant: string | null) => void;
}

interface Unclear {
  readonly sentence: string;
  readonly choices: readonly number[];
}

export function InstantField({ label, shown, title, field, choose }: InstantFieldProps) {
  const [unclear, setUnclear] = useState<Unclear | null>(null);
  const input = useRef<HTMLInputElement>(null);
  // Before painting: later the user may already be typing.
  useLayoutEffect(() => {
    // A new instant in the address replaces the text; the field keeps the focus.
    if (input.current !== null) input.current.value = shown;
    setUnclear(null);
  }, [shown]);
  const take = (instant: string | null) => {
    setUnclear(null);
    choose(instant);
  };
  const decide = () => {
    const text = input.current?.value.trim() ?? "";
    if (text === shown) return;
    const read = chosenBy(text);
    if (typeof read === "object" && read !== null) setUnclear(read);
    else take(read);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    decide();
  };
  // A marker may have been typed before the markers were loaded.
  const areMarkersKnown = markers.value !== undefined;
  useLayoutEffect(() => {
    if (areMarkersKnown && unclear !== null) decide();
  }, [areMarkersKnown]);
  const restore = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || input.current === null) return;
    event.stopPropagation();
    input.current.value = shown;
    setUnclear(null);
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
        aria-invalid={unclear !== null}
        placeholder="-24h, 2026-03-01 03:12"
        list="marker-names"
        autoComplete="off"
        spellcheck={false}
        maxLength={300}
        onFocus={(event) => event.currentTarget.select()}
        onKeyDown={restore}
      />
      {unclear !== null && (
        <div class="instant-unclear" role="alert">
          <span>{unclear.sentence}</span>
          {unclear.choices.map((ms) => (
            <button type="button" key={ms} onClick={() => take(addressInstant(ms))}>
              {saidText.which(formatLocal(ms, zone.value), formatUtc(ms).slice(11, 19))}
            </button>
          ))}
        </div>
      )}
    </form>
  );
}

/** Address form of the typed instant; null for now; else the reason why it is unclear. */
function chosenBy(text: string): string | null | Unclear {
  const said = readSaid(text, { nowMs: exactNow(), timeZone: zone.peek() });
  switch (said.type) {
    case "now":
      return null;
    case "instant":
      return addressInstant(said.ms);
    case "marker":
      return markerOrUnclear(said.name);
    case "twice":
      return { sentence: saidText.twice, choices: said.instants };
    case "leftOut":
      return { sentence: saidText.leftOut, choices: [said.instead] };
    case "unreadable": {
      const marker = markerNamed(text);
      return marker === undefined ? { sentence: saidText.unreadable, choices: [] } : markerAddress(marker);
    }
  }
}

function markerOrUnclear(name: string): string | Unclear {
  const marker = markerNamed(name);
  if (marker !== undefined) return markerAddress(marker);
  // With markers not loaded, the appliance validates the name.
  return markers.peek() === undefined ? `marker:${name}` : { sentence: timeText.noSuchMarker(name), choices: [] };
}
