// Time-zone picker: local, UTC, or any other zone that the browser supports.

import { useEffect, useState } from "preact/hooks";
import { ownZone, setZone, zone } from "../time/zone.ts";
import { Select } from "./select.tsx";

/** Deadline for loading the other zones, however busy the page is. */
const IDLE_TIMEOUT_MS = 2_000;

/** @param isLabelVisible whether the label is visible, not only for screen readers */
export function ZoneChoice({ isLabelVisible = true }: { readonly isLabelVisible?: boolean }) {
  const [others, setOthers] = useState<readonly string[]>([]);
  // Hundreds of zones, loaded when idle.
  useEffect(() => whenIdle(() => setOthers(Intl.supportedValuesOf("timeZone"))), []);
  return (
    <label>
      <span class={isLabelVisible ? undefined : "visually-hidden"}>Time zone</span>
      <Select value={zone.value} choices={[...new Set([ownZone(), "UTC", zone.value, ...others])]} onChoose={setZone} />
    </label>
  );
}

/** @returns a function that cancels the action. Safari has no requestIdleCallback. */
function whenIdle(action: () => void): () => void {
  if (typeof requestIdleCallback === "undefined") {
    const timer = setTimeout(action, IDLE_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(action, { timeout: IDLE_TIMEOUT_MS });
  return () => cancelIdleCallback(handle);
}
