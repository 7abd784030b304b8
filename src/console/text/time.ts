// Texts for the shown instant and the comparison instant.

export const timeText = {
  now: "Now",
  noSuchMarker: (name: string) => `No marker “${name}” found, or several have that name.`,
  ranges: { hour: "Hour", day: "Day", week: "Week", month: "Month", all: "All", custom: "Custom…" },
  from: "From",
  to: "Until",
  inUtc: (instant: string) => `${instant} (UTC)`,
  /** `UTC−5`, `UTC+5:30`. @param offset UTC offset in milliseconds */
  ofUtc: (offset: number) => {
    const minutes = Math.abs(offset) / 60_000;
    const rest = minutes % 60;
    return `UTC${offset < 0 ? "−" : "+"}${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
  },
} as const;

export const saidText = {
  unreadable:
    "Can't read this as a date or time. Try 2026-03-01 03:12, 03:12, yesterday 14:00, friday, -24h, marker:NAME or a timestamp in UTC.",
  twice: "The clocks were put back and showed this twice. Which one?",
  leftOut: "The clocks were put forward and never showed this. Meant is probably",
  which: (local: string, utc: string) => `${local} (${utc} UTC)`,
} as const;
