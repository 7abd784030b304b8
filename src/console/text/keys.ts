// Descriptions of the keyboard shortcuts.

export const keysText = {
  close: "Close",
  showKeys: "Show the keys",
  find: "Find anything",
  toNow: "Back to now",
} as const;
