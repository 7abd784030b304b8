// What is said where some fields of a record are brought back as they were.

export const bringBackText = {
  offer: "Bring some of it back…",
  offerOf: (name: string) => `Bring some of it back: ${name}`,
  chooseFields: "Bring some of it back…",
  title: (name: string) => `Bring back fields of ${name}`,
  says: "What it is now → what it was at A. Only what you choose is written; the rest stays as it is now.",
  verb: (count: number) =>
    count === 0 ? "Choose what comes back" : count === 1 ? "Bring this field back" : `Bring these ${count} fields back`,
  moved: "It was changed meanwhile. This is how it stands now: look at it again.",
  without: "without what is gone since:",
  cannot: {
    derived: "cannot be written: the appliance works it out, or a scan reads it.",
    parts: "is a part of its own: bring it back where it stands.",
    placed: "says where it belongs, and does not change.",
    credentials: "is set by an Admin, with the credentials of the host.",
    admin: "is set by an Admin.",
    gone: "named what is gone since: bring that back first.",
    empty: "had no value then, and must have one.",
    undefinedNow: "is a field that the organization has no longer.",
    same: "is already as it was.",
  },
} as const;
