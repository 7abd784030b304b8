// What each key does, as the list of keys says it.

export const keysText = {
  close: "Close",
  showKeys: "Show the keys",
  find: "Find anything",
  toNow: "Back to now",
} as const;
