// What is said of the instant that is shown, and of those it is compared with.

import { groupedDigits } from "./digits.ts";

export const timeText = {
  instant: "Instant",
  now: "Now",
  past: "The past",
  asOf: "As of",
  loading: "loading…",
  backToNow: "Back to now",
  marker: (name: string) => `marker “${name}”`,
  bar: "Time",
  otherInstants: "Other instants",
  track: "How much changed when",
  notAnInstant: (text: string) => `“${text}” is no instant. One looks like 2026-03-01 03:12 or 2026-03-01T02:12:00Z.`,
  noSuchMarker: (name: string) => `There is no marker “${name}” within your reach, or there are several of that name.`,
  notYet: "That is still to come. What you see is now.",
  beforeBeginning: "Nothing was known then. The first change was at",
  nothingKnown: "Nothing is known yet, of any instant.",
  range: "Range",
  ranges: { hour: "Hour", day: "Day", week: "Week", month: "Month", all: "All", custom: "Custom…" },
  customTitle: "Show the time",
  from: "From",
  to: "Until",
  show: "Show",
  cancel: "Cancel",
  endsBeforeBegins: "It ends before it begins.",
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
  /** `UTC−5`, `UTC+5:30`. @param offset of the clocks, in milliseconds */
  ofUtc: (offset: number) => {
    const minutes = Math.abs(offset) / 60_000;
    const rest = minutes % 60;
    return `UTC${offset < 0 ? "−" : "+"}${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
  },
} as const;

export const saidText = {
  unreadable:
    "Not an instant. Try 2026-03-01 03:12, 03:12, yesterday 14:00, friday, -24h, marker:NAME or an instant in UTC.",
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
  waiting: "not live: the connection broke off, and is tried again",
  changes: (count: number, since: string) =>
    `${count === 1 ? "1 change" : `${groupedDigits(count)} changes`} since ${since}`,
  show: "show",
  showChanges: "Show what changed since",
} as const;
