// Next run times of a cron expression, computed by the appliance and shown in the user's and the schedule's time zone.

import { useEffect, useState } from "preact/hooks";
import { read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { formatLocal, parseInstant } from "../time/instant.ts";
import { zone } from "../time/zone.ts";
import { When } from "./when.tsx";

/** Debounce interval while typing. */
const TYPING_MS = 400;
/** Refresh interval: the first time passes eventually. */
const REFRESH_MS = 30_000;
/** Plausibility check only: five fields, or a nickname such as `@daily`. */
const CRON = /^(?:[\d*,/\-a-z#]+(?:\s+[\d*,/\-a-z#]+){4}|@[a-z]{5,})$/i;
const TIMES = 5;

const DUE_UNKNOWN =
  "Minute, hour, day of month, month, day of week; or a word such as @hourly, @daily, @weekly, @monthly.";

export function DueTimes({ cron, timezone }: { readonly cron: string; readonly timezone: string }) {
  const typed =
    CRON.test(cron.trim()) && timezone.trim() !== "" ? JSON.stringify([cron.trim(), timezone.trim()]) : null;
  const [requested, setRequested] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(setRequested, TYPING_MS, typed);
    return () => clearTimeout(timer);
  }, [typed]);
  const [requestedCron = "", requestedZone = ""] =
    requested === null ? [] : (JSON.parse(requested) as [string, string]);
  const query = { cron: requestedCron, timezone: requestedZone, count: TIMES };
  const response = useResponse(requested === null ? null : read("/api/v1/discovery/schedules/due", { query }));
  usePoll(response, requested === null ? null : REFRESH_MS);
  const { data, problem } = response;
  if (typed === null || typed !== requested) return <p class="aside">{DUE_UNKNOWN}</p>;
  if (problem !== undefined)
    return (
      <p class="aside" role="status">
        {problem.issues.map(({ message }) => message).join("; ") || problem.message}
      </p>
    );
  if (data === undefined || response.isEarlier) return <p class="aside">{DUE_UNKNOWN}</p>;
  return (
    <div class="due-times">
      <p class="aside">{data.due_at.length === 0 ? "Never runs." : "Next runs:"}</p>
      <ol>
        {data.due_at.map((instant) => (
          <li key={instant}>
            <When instant={instant} precision="minute" />
            {data.timezone !== zone.value && (
              <span class="aside">
                {" "}
                {formatLocal(parseInstant(instant) ?? 0, data.timezone, "minute")} {data.timezone}
              </span>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}
