// In which time zone one reads: one's own, UTC, or any other that the browser knows.

import { frameText } from "../text/frame.ts";
import { ownZone, setZone, zone } from "../time/zone.ts";

/** @param isNamed whether its name is seen beside it */
export function ZoneChoice({ isNamed = true }: { readonly isNamed?: boolean }) {
  return (
    <label>
      <span class={isNamed ? undefined : "unseen"}>{frameText.timeZone}</span>
      <select value={zone.value} onChange={(event) => setZone(event.currentTarget.value)}>
        {[...new Set([ownZone(), "UTC", zone.value, ...Intl.supportedValuesOf("timeZone")])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
