// Next run times of a cron expression, computed by the appliance: in the reader's zone and in the schedule's.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { formatLocal, parseInstant } from "../time/instant.ts";
import { zone } from "../time/zone.ts";
import { When } from "./when.tsx";

/** Debounce interval while typing. */
const TYPING_MS = 400;
/** Refresh interval, since the first time passes. */
const AGAIN_MS = 30_000;
/** Plausibility check only: five fields, or a nickname. */
const CRON = /^(?:[\d*,/\-a-z#]+(?:\s+[\d*,/\-a-z#]+){4}|@[a-z]{5,})$/i;
const TIMES = 5;

interface DueTimesProps {
  readonly cron: string;
  readonly timezone: string;
}

const DUE_UNKNOWN =
  "Minute, hour, day of month, month, day of week; or a word such as @hourly, @daily, @weekly, @monthly.";

export function DueTimes({ cron, timezone }: DueTimesProps) {
  const said = CRON.test(cron.trim()) && timezone.trim() !== "" ? JSON.stringify([cron.trim(), timezone.trim()]) : null;
  const [asked, setAsked] = useState(said);
  useEffect(() => {
    const timer = setTimeout(setAsked, TYPING_MS, said);
    return () => clearTimeout(timer);
  }, [said]);
  const [askedCron = "", askedZone = ""] = asked === null ? [] : (JSON.parse(asked) as [string, string]);
  const query = { cron: askedCron, timezone: askedZone, count: TIMES };
  const answer = useAnswer(asked === null ? null : read("/api/v1/discovery/schedules/due", { query }));
  usePoll(answer, asked === null ? null : AGAIN_MS);
  const { data, problem } = answer;
  if (said === null || said !== asked) return <p class="aside">{DUE_UNKNOWN}</p>;
  if (problem !== undefined)
    return (
      <p class="aside" role="status">
        {problem.issues.map(({ message }) => message).join("; ") || problem.message}
      </p>
    );
  if (data === undefined || answer.isEarlier) return <p class="aside">{DUE_UNKNOWN}</p>;
  return (
    <div class="due-times">
      <p class="aside">{data.due_at.length === 0 ? "It never comes due." : "Comes due next:"}</p>
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
