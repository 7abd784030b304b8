// UI strings for editing records.

import { isolated } from "./isolated.ts";

export const editText = {
  edit: "Edit",
  title: (name: string) => `Edit ${isolated(name)}`,
  newRecord: (word: string) => `New ${word}`,
  create: "Create",
  delete: "Delete",
  deleteHelp: "History is kept, and the transaction can be undone.",
  ignore: "Ignore it in scans from now on",
  ignoreMany: "Ignore them in scans from now on",
  ignoreHelp: "Otherwise a scan that finds it again creates it again.",
  ignoreManyHelp: "Otherwise scans that find them again create them again.",
  /** Rewords the API's hint about a query parameter for this form. */
  inUse: (message: string) => message.replace("repeat with cascade=true", "delete anyway"),
  restored: "Your input was restored.",
  merged: (fields: readonly string[]) =>
    `Others have changed ${fields.join(", ")} in the meantime. Their changes are kept.`,
  unknownOutcome: "We couldn't confirm that the change was saved. Save again – it's safe to retry.",
  error: {
    required: "A value is required.",
    tooShort: (minimum: number, actual: number) => `At least ${minimum} characters; it has ${actual}.`,
  },
} as const;
