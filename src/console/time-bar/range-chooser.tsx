// Range of the time bar: a preset, everything, or a custom range.

import { useRef, useState } from "preact/hooks";
import { saidText, timeText } from "../text/time.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal } from "../time/instant.ts";
import { markerNamed } from "../time/markers.ts";
import { readSaid } from "../time/said.ts";
import { zone } from "../time/zone.ts";
import { chooseBetween, chooseRange, type RangeChoice, range, shownWindow } from "./view.ts";

const CHOICES = Object.keys(timeText.ranges) as RangeChoice[];

export function RangeChooser() {
  const dialog = useRef<HTMLDialogElement>(null);
  const choose = (event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    const choice = select.value as RangeChoice;
    if (choice !== "custom") chooseRange(choice);
    else {
      // The choice stays unchanged until both instants are entered.
      select.value = range.peek();
      dialog.current?.showModal();
    }
  };
  return (
    <>
      <select class="range" aria-label="Range" value={range.value} onChange={choose}>
        {CHOICES.map((choice) => (
          <option key={choice} value={choice}>
            {timeText.ranges[choice]}
          </option>
        ))}
      </select>
      <dialog ref={dialog} aria-labelledby="range-title">
        <Between done={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function Between({ done }: { readonly done: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const window = shownWindow.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const from = instantIn(String(form.get("from")));
    const to = instantIn(String(form.get("to")));
    if (from === null || to === null) setProblem(saidText.unreadable);
    else if (from >= to) setProblem("The end must be after the start.");
    else {
      setProblem(null);
      chooseBetween(from, to);
      done();
    }
  };
  const field = (name: "from" | "to", ms: number | undefined) => (
    <label>
      {timeText[name]}
      <input
        // A new window resets the field.
        key={ms}
        name={name}
        list="marker-names"
        defaultValue={ms === undefined ? "" : formatLocal(ms, zone.value)}
        autoComplete="off"
        maxLength={300}
        required
      />
    </label>
  );
  return (
    <form class="between" onSubmit={submit}>
      <h2 id="range-title">Show the time</h2>
      {field("from", window?.from)}
      {field("to", window?.to)}
      {problem !== null && <p role="alert">{problem}</p>}
      <div class="between-actions">
        <button type="submit" class="primary">
          Show
        </button>
        <button type="button" onClick={done}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Ends of a range need not be exact: the first of two readings is used. */
function instantIn(text: string): number | null {
  const nowMs = exactNow();
  const said = readSaid(text, { nowMs, timeZone: zone.peek() });
  switch (said.type) {
    case "now":
      return nowMs;
    case "instant":
      return said.ms;
    case "twice":
      return said.instants[0] ?? null;
    case "leftOut":
      return said.instead;
    case "marker":
      return markerNamed(said.name)?.ms ?? null;
    case "unreadable":
      return markerNamed(text.trim())?.ms ?? null;
  }
}
