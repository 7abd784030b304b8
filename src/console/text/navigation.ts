// Page names for navigation, titles and the command palette.

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
