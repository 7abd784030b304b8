// What the pages of all records say alike.

export const recordText = {
  record: "Record",
  overview: "Overview",
  history: "History",
  showNow: "Show it now",
} as const;
