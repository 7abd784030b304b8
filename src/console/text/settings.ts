// UI strings shared by the settings: names, audience, and confirmations of irreversible actions.

export const settingsText = {
  tabs: {
    credentials: "Credentials",
    networks: "Networks",
    tags: "Tags",
    customFields: "Custom fields",
    markers: "Markers",
    account: "Account",
    organization: "Organization",
    people: "People",
    keys: "API keys",
    backups: "Backups",
    retention: "Retention",
    appliance: "Health",
    log: "Log",
    about: "About",
  },
  ownersOnly: "For signed-in Owners only, and only while the appliance has one organization.",
  actions: "Actions",
} as const;

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** `6.9 GB`, `812 kB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** power;
  return `${new Intl.NumberFormat("en", { maximumSignificantDigits: amount >= 100 ? 3 : 2 }).format(amount)} ${UNITS[power]}`;
}
