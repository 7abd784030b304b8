// What the pages of all records say alike.

export const recordText = {
  overview: "Overview",
  history: "History",
} as const;
