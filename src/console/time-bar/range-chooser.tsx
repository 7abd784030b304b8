// Time bar range chooser: a preset, all of history, or a custom range.

import { useRef, useState } from "preact/hooks";
import { ActionButton, SubmitButton } from "../components/buttons.tsx";
import { timeInputText, timeText } from "../text/time.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal } from "../time/instant.ts";
import { markerNamed } from "../time/markers.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
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
      // The choice stays unchanged until both timestamps are entered.
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
        <CustomRangeForm done={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function CustomRangeForm({ done }: { readonly done: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const window = shownWindow.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const from = instantFrom(String(form.get("from")));
    const to = instantFrom(String(form.get("to")));
    if (from === null || to === null) setProblem(timeInputText.unreadable);
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
      <h2 id="range-title">Time range</h2>
      {field("from", window?.from)}
      {field("to", window?.to)}
      {problem !== null && <p role="alert">{problem}</p>}
      <div class="between-actions">
        <SubmitButton label="Show" />
        <ActionButton label="Cancel" onClick={done} />
      </div>
    </form>
  );
}

/** Range ends need not be exact: a repeated local time means the earlier timestamp. */
function instantFrom(text: string): number | null {
  const nowMs = exactNow();
  const parsed = parseTimeInput(text, { nowMs, timeZone: zone.peek() });
  switch (parsed.type) {
    case "now":
      return nowMs;
    case "instant":
      return parsed.ms;
    case "repeated":
      return parsed.instants[0] ?? null;
    case "skipped":
      return parsed.substitute;
    case "marker":
      return markerNamed(parsed.name)?.ms ?? null;
    case "unreadable":
      return markerNamed(text.trim())?.ms ?? null;
  }
}
