// The names of the pages, as the navigation, titles and the command palette have them.

export const navigationText = {
  find: "Find",
  start: "Get started",
  stations: "Stations",
  conflicts: "Conflicts",
  map: "Map",
  changes: "Changes",
  compare: "Compare",
  discovery: "Discovery",
  ledger: "Ledger",
  settings: "Settings",
} as const;
