// The names of the pages, as the navigation, titles and the command palette have them.

export const navigationText = {
  find: "Find",
  start: "Get started",
  hosts: "Hosts",
  interfaces: "Interfaces",
  addresses: "Addresses",
  services: "Services",
  ports: "Ports",
  ranges: "Ranges",
  subnets: "Subnets",
  vlans: "VLANs",
  stations: "Stations",
  conflicts: "Conflicts",
  map: "Map",
  changes: "Changes",
  compare: "Compare",
  discovery: "Discovery",
  ledger: "Ledger",
  settings: "Settings",
} as const;
