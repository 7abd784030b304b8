// Texts for restoring individual fields of a record.

import { isolated } from "./isolated.ts";

export const bringBackText = {
  offer: "Restore…",
  offerOf: (name: string) => `Restore fields of ${name}`,
  chooseFields: "Restore…",
  title: (name: string) => `Restore fields of ${isolated(name)}`,
  says: "Current value → value at A. Only the fields you choose are written; the rest stay unchanged.",
  verb: (count: number) =>
    count === 0 ? "Choose fields to restore" : count === 1 ? "Restore this field" : `Restore these ${count} fields`,
  moved: "It was changed meanwhile. This is how it stands now: look at it again.",
  without: "without what is gone since:",
  cannot: {
    derived: "cannot be written: the appliance works it out, or a scan reads it.",
    parts: "is a record of its own: restore it on its own page.",
    placed: "says where it belongs, and does not change.",
    credentials: "is set by an Admin, with the credentials of the host.",
    gone: "names what is gone since: restore that first.",
    empty: "had no value then, and must have one.",
    undefinedNow: "is a field that the organization no longer has.",
    same: "is already as it was.",
  },
} as const;
