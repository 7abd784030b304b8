// In which time zone one reads: one's own, UTC, or any other that the browser knows.

import { frameText } from "../text/frame.ts";
import { ownZone, setZone, zone } from "../time/zone.ts";

export function ZoneChoice() {
  return (
    <label>
      {frameText.timeZone}
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
