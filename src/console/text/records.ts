// Texts shared by the pages of all records.

export const recordText = {
  record: "Record",
  overview: "Overview",
  history: "History",
  showNow: "Show it now",
} as const;
