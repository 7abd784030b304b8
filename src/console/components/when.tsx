// Timestamp in the display time zone, with UTC on hover and, optionally, its age.

import { isPast } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { formatAge, formatLocal, formatUtc, parseInstant } from "../time/instant.ts";
import { zone } from "../time/zone.ts";

interface WhenProps {
  /** RFC 3339, as in API responses. */
  readonly instant: string;
  /** Defaults to the time. On pages that show the past, `age` shows the time too, since ages are relative to now. */
  readonly as?: "time" | "age" | "both";
  readonly precision?: "day" | "minute" | "second" | "millisecond";
}

export function When({ instant, as: requestedFormat = "time", precision = "second" }: WhenProps) {
  const milliseconds = parseInstant(instant);
  const as = requestedFormat === "age" && isPast.value ? "time" : requestedFormat;
  if (milliseconds === null) return <span>{instant}</span>;
  const local = formatLocal(milliseconds, zone.value, precision);
  const age = as === "time" ? "" : formatAge(milliseconds, now.value);
  return (
    <time class="when" dateTime={instant} title={`${formatUtc(milliseconds)} (UTC)${as === "age" ? `, ${local}` : ""}`}>
      {as === "age" ? age : local}
      {as === "both" && <span class="age"> {age}</span>}
    </time>
  );
}
