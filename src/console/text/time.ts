// Texts for the shown instant and the comparison instant.

import { groupedDigits } from "./digits.ts";

export const timeText = {
  instant: "Instant",
  now: "Now",
  asOf: "As of",
  loading: "loading…",
  backToNow: "Back to now",
  marker: (name: string) => `marker “${name}”`,
  bar: "Time",
  otherInstants: "Other instants",
  track: "How much changed when",
  notAnInstant: (text: string) =>
    `Can't read “${text}” as a date or time. Try 2026-03-01 03:12, yesterday 14:00, or -24h.`,
  noSuchMarker: (name: string) => `No marker “${name}” found, or several have that name.`,
  notYet: "That's in the future – showing now.",
  beforeBeginning: "No data yet at that time. History starts",
  nothingKnown: "No data yet.",
  range: "Range",
  ranges: { hour: "Hour", day: "Day", week: "Week", month: "Month", all: "All", custom: "Custom…" },
  customTitle: "Show the time",
  from: "From",
  to: "Until",
  show: "Show",
  cancel: "Cancel",
  endsBeforeBegins: "The end must be after the start.",
  earlier: "Earlier",
  later: "Later",
  previousChange: "Previous change",
  nextChange: "Next change",
  noEarlierChange: "There is no earlier change.",
  noLaterChange: "There is no later change: now.",
  goTo: "Go to an instant",
  goToHint: "-24h, 2026-03-01 03:12",
  changes: (count: number) => (count === 1 ? "1 change" : `${groupedDigits(count)} changes`),
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

export const compareText = {
  compareWith: "Compare…",
  title: "Compare with",
  now: "Now",
  before: { day: "24 hours before", week: "7 days before" },
  markers: "Markers",
  instant: "Another instant",
  comparing: "Comparing",
  with: "with",
  swap: "Swap",
  backwards: "(backwards: A is the later one)",
  alone: "This page shows B alone.",
  differences: "What differs",
  end: "End comparison",
  compared: "Compared with",
} as const;

export const liveText = {
  following: "live",
  waiting: "offline – reconnecting…",
  changes: (count: number, since: string) =>
    `${count === 1 ? "1 change" : `${groupedDigits(count)} changes`} since ${since}`,
  show: "show",
  showChanges: "Show what changed since",
} as const;
