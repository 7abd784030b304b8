// Texts shared by the settings: names, audience, and confirmations of irreversible actions.

export const settingsText = {
  title: "Settings",
  areaOf: (title: string) => `Settings: ${title}`,
  groups: { you: "You", access: "Access", inventory: "Inventory", appliance: "Appliance" },
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
  ofNow: "Settings are shown as they are now, whatever instant is chosen. To change something, go back to now.",
  notPermitted: "Your role does not allow this page.",
  ownersAlone:
    "This concerns the whole appliance. It is for Owners who are signed in, while the appliance has one organization.",
  actions: "Actions",
  created: "Created",
  cancel: "Cancel",
  close: "Close",
  working: "Working…",
  again: "Send it again",
  unsure: "It is not known whether it was done. Send it again as it is: it is done once.",
  unsureOfSecret:
    "It is not known whether it was done. Type again what is secret, leave the rest as it is, and send it: it is done once.",
  wasDone:
    "It was done before, as it was sent then. What is typed here is something else: cancel, and look at what was done.",
  password: "Your password",
  show: "Show",
} as const;

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** `6.9 GB`, `812 kB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** power;
  return `${new Intl.NumberFormat("en", { maximumSignificantDigits: amount >= 100 ? 3 : 2 }).format(amount)} ${UNITS[power]}`;
}
