// The names of the pages, as the navigation, titles and the command palette have them.

export const navigationText = {
  find: "Find",
} as const;
