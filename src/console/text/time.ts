// UI strings for the shown timestamp and the comparison timestamp.

export const timeText = {
  now: "Now",
  noSuchMarker: (name: string) => `No marker “${name}” found, or several have that name.`,
  ranges: { hour: "Hour", day: "Day", week: "Week", month: "Month", all: "All", custom: "Custom…" },
  from: "From",
  to: "Until",
  inUtc: (instant: string) => `${instant} (UTC)`,
  /** `UTC−5`, `UTC+5:30`. @param offset UTC offset in milliseconds */
  utcOffset: (offset: number) => {
    const minutes = Math.abs(offset) / 60_000;
    const rest = minutes % 60;
    return `UTC${offset < 0 ? "−" : "+"}${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
  },
} as const;

export const timeInputText = {
  unreadable:
    "Can't read this as a date or time. Try 2026-03-01 03:12, 03:12, yesterday 14:00, friday, -24h, marker:NAME or a timestamp in UTC.",
  repeated: "This time occurred twice, since the clocks were set back. Which one?",
  skipped: "This time was skipped, since the clocks were set forward. Did you mean",
  which: (local: string, utc: string) => `${local} (${utc} UTC)`,
} as const;
