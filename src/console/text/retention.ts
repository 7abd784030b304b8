// Texts of the retention page.

import { groupedDigits } from "./digits.ts";

const states = (count: number) => (count === 1 ? "1 state" : `${groupedDigits(count)} states`);

export const retentionText = {
  says: "All history is kept until it is pruned. This page previews what a prune would drop; it changes nothing.",
  handbook: "What stays, and what answers say afterwards",
  before: "Prune what happened before (00:00 UTC)",
  keep: "What stays of it",
  keeps: {
    none: "only the state at that date",
    daily: "the last state of each day",
    monthly: "the last state of each month",
  },
  preview: "Preview",
  result: "What it would drop",
  nothing: "Nothing would be dropped.",
  versions: "Versions looked at",
  dropped: "Dropped",
  droppedOf: (dropped: number, size: string) =>
    `${groupedDigits(dropped)} ${dropped === 1 ? "version" : "versions"}, ${size} of documents`,
  kept: "Stays",
  keptStates: states,
  notes: "Notes of where credentials were sent, dropped",
  segments: "Thinned afterwards",
  segment: (first: number, last: number, resolution: string) =>
    `transactions ${groupedDigits(first)} to ${groupedDigits(last)}: ${resolution}`,
  doIt: "To do it",
  forGood:
    "What is dropped is gone for good. Take a backup first, and stop the appliance: it is done where the data are, in the folder DIR.",
  backups: "Backups",
  vacuum:
    "With --vacuum the file is rewritten afterwards; until then what was dropped can be recovered from its unused pages.",
} as const;
