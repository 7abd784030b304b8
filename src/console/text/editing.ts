// Texts for editing records.

import { isolated } from "./isolated.ts";

export const editText = {
  edit: "Edit",
  title: (name: string) => `Edit ${isolated(name)}`,
  newOne: (word: string) => `New ${word}`,
  create: "Create",
  delete: "Delete",
  deleteHelp: "It stays in history, and the transaction can be undone.",
  /** Replaces the hint on an API parameter. */
  inUse: (message: string) => message.replace("repeat with cascade=true", "delete all the same"),
  restored: "What you had typed is back.",
  merged: (fields: readonly string[]) => `Meanwhile others changed ${fields.join(", ")}. That stays as they left it.`,
  unsure: "It is not known whether it was saved. Saving again does nothing twice.",
  wrong: {
    required: "A value is required.",
    tooShort: (least: number, is: number) => `At least ${least} characters; it has ${is}.`,
  },
} as const;
