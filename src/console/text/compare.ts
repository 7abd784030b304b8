// Texts for comparisons of two instants.

import { groupedDigits } from "./digits.ts";

export const comparisonText = {
  change: "Change",
  changes: { added: "Added", removed: "Removed", changed: "Changed" },
  shown: "What is shown of the comparison",
  all: "All rows",
  differences: (count: number | undefined) =>
    count === undefined ? "What differs" : `${groupedDigits(count)} ${count === 1 ? "differs" : "differ"}`,
  only: {
    added: (count: number | undefined) => (count === undefined ? "Added" : `${groupedDigits(count)} added`),
    removed: (count: number | undefined) => (count === undefined ? "Removed" : `${groupedDigits(count)} removed`),
    changed: (count: number | undefined) => (count === undefined ? "Changed" : `${groupedDigits(count)} changed`),
  },
  /** Fields without a column. */
  besides: (fields: readonly string[]) => fields.join(", "),
  nothingHere: "No differences in this list between A and B.",
  unordered: (count: number) =>
    `More than ${groupedDigits(count)} differ: they stand by what happened, in the order in which they were made. Filter the list to have them in its order.`,
  unorderedAbove: (count: number) =>
    `More than ${groupedDigits(count)} differ: what was removed stands in the order in which it was made. Filter the list to have it in its order.`,
  observed: "Include learned data (MAC tables, last seen)",
  observedMeans: "Records that were only seen or missed: no other field changed",
  what: "Changes from A to B",
  nothing: "No differences between A and B.",
  partsAlone: "Its own fields are unchanged; only its ports, addresses and other parts differ.",
  /** `1 added, 12 changed`; empty for nothing. */
  counts: (counts: Readonly<Record<"added" | "removed" | "changed", number>>) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([change, count]) => `${groupedDigits(count)} ${change}`)
      .join(", "),
  more: (count: number) => `${groupedDigits(count)} more: the lists of their kinds, compared, show all.`,
  legend: "Added: +. Changed: ~. Gone: dashed.",
} as const;
