// An instant as it is read: in the reader's zone, its UTC on hover, its age beside it where that is asked for.

import { isPast } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { formatAge, formatLocal, formatUtc, parseInstant } from "../time/instant.ts";
import { zone } from "../time/zone.ts";

interface WhenProps {
  /** RFC 3339, as the API answers it. */
  readonly instant: string;
  /** What of it is shown; the time unless it is said. In the past nothing is shown by its age alone: that is of now. */
  readonly as?: "time" | "age" | "both";
  readonly precision?: "day" | "minute" | "second" | "millisecond";
}

export function When({ instant, as: asked = "time", precision = "second" }: WhenProps) {
  const milliseconds = parseInstant(instant);
  const as = asked === "age" && isPast.value ? "time" : asked;
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
