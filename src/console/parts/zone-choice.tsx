// Choice of the display time zone: local, UTC, or any other that the browser supports.

import { useEffect, useState } from "preact/hooks";
import { ownZone, setZone, zone } from "../time/zone.ts";
import { Select } from "./select.tsx";

/** Deadline for loading the other zones, however busy the page is. */
const SOON_MS = 2_000;

/** @param isNamed whether the label is visible */
export function ZoneChoice({ isNamed = true }: { readonly isNamed?: boolean }) {
  const [others, setOthers] = useState<readonly string[]>([]);
  // Hundreds of zones, loaded when idle.
  useEffect(() => whenIdle(() => setOthers(Intl.supportedValuesOf("timeZone"))), []);
  return (
    <label>
      <span class={isNamed ? undefined : "unseen"}>Time zone</span>
      <Select value={zone.value} choices={[...new Set([ownZone(), "UTC", zone.value, ...others])]} onChoose={setZone} />
    </label>
  );
}

/** @returns a function that cancels the action. Safari has no requestIdleCallback. */
function whenIdle(action: () => void): () => void {
  if (typeof requestIdleCallback === "undefined") {
    const timer = setTimeout(action, SOON_MS);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(action, { timeout: SOON_MS });
  return () => cancelIdleCallback(asked);
}
