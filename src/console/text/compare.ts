// UI strings for comparisons of two timestamps.

export const comparisonText = {
  changes: { added: "Added", removed: "Removed", changed: "Changed" },
  nothingHere: "No differences in this list between A and B.",
  legend: "Added: +. Changed: ~. Gone: dashed.",
} as const;
