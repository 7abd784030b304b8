// Texts for editing records.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

export const editText = {
  edit: "Edit",
  editMeaning: "edit this record",
  title: (name: string) => `Edit ${isolated(name)}`,
  newOne: (word: string) => `New ${word}`,
  create: "Create",
  missing: (names: readonly string[]) => `Still needed: ${names.join(", ")}.`,
  created: "Created.",
  show: "Show it",
  lineEach: "One per line.",
  instant: "An instant, such as 2026-03-01 03:12 or -24h.",
  chooseHost: "Choose one from the list, or type its whole name.",
  noSuchHost: "No host is called that.",
  search: "Start typing a name",
  remove: (name: string) => `Remove ${name}`,
  delete: "Delete",
  deleteTitle: (name: string) => `Delete ${isolated(name)}`,
  deleteHelp: "It stays in history, and the transaction can be undone.",
  deleteFound: "If discovery found it, it is put on the list of what scans must not bring back.",
  lookAgain: "Look again",
  deleteAll: "Delete all the same",
  /** Replaces the hint on an API parameter. */
  inUse: (message: string) => message.replace("repeat with cascade=true", "delete all the same"),
  deleted: "Deleted.",
  restoredNow: "Brought back.",
  changedSince: "It has changed since you opened this form.",
  save: "Save",
  saving: "Saving…",
  again: "Save again",
  cancel: "Cancel",
  allFields: "All fields",
  editRow: "edit the row",
  reasonHelp: "Kept in history with the change.",
  restored: "What you had typed is back.",
  discard: "Discard it",
  unchanged: "Nothing is changed yet.",
  none: "none",
  chooseOne: "choose one",
  add: (what: string) => `Add to ${what}`,
  yes: "yes",
  no: "no",
  merged: (fields: readonly string[]) => `Meanwhile others changed ${fields.join(", ")}. That stays as they left it.`,
  clash: "Others changed this while you edited.",
  was: "It was",
  theirs: "They made it",
  mine: "You made it",
  takeTheirs: "Take theirs",
  keepMine: "Keep mine",
  choose: "Choose for each field that others changed too, then save again.",
  gone: "The record was removed while you edited. What you typed is still here.",
  unsure: "It is not known whether it was saved. Saving again does nothing twice.",
  unsureNew:
    "It is not known whether it was created. Save again to find out: it is made once. Until then it stays as it was sent.",
  saved: "Saved.",
  undo: "Undo",
  transaction: (sequence: number) => `transaction ${groupedDigits(sequence)}`,
  close: "Close",
  wrong: {
    required: "A value is required.",
    tooShort: (least: number, is: number) => `At least ${least} characters; it has ${is}.`,
    tooLong: (most: number, is: number) => `At most ${most} characters; it has ${is}.`,
    notNumber: "A number, such as 20 or 2.5.",
    notInstant: "An instant, such as 2026-03-01T03:12:00Z.",
    notWhole: "A whole number, such as 20.",
    range: (least: number | undefined, most: number | undefined) =>
      least === undefined
        ? `At most ${most}.`
        : most === undefined
          ? `At least ${least}.`
          : `A number from ${least} to ${most}.`,
  },
} as const;

/** Texts of the reason input. */
export const reasonText = {
  why: "Why",
  demanded: "Why (required)",
  demands: "Your organization requires a reason for every change.",
} as const;

/** Texts of the preview of a write. */
export const planText = {
  undo: "Undo this transaction",
  undoVerb: "Undo",
  restore: "Restore it as it was",
  restoreVerb: "Restore this",
  bringBack: "Bring it back",
  undoIt: "Undo",
  actions: {
    Create: "Brings back",
    Update: "Changes",
    Delete: "Removes",
    Skip: "Leaves",
    Moved: "Moves",
    Kept: "Keeps",
    Closed: "Closes",
    Created: "Makes",
    Changed: "Changes",
  },
  /** Kinds without a page of their own, singular and plural. */
  untold: {
    credential_assignment: ["credential assignment", "credential assignments"],
    fdb_entry: ["forwarding entry", "forwarding entries"],
  } as Readonly<Record<string, readonly [one: string, many: string]>>,
  says: "This will change:",
  many: (count: number, words: string) => `${groupedDigits(count)} ${words}`,
  partsAlone: "Only what belongs to it, as below.",
  /** Changed fields without displayable values. */
  also: (fields: readonly string[], hasValues: boolean) => `${hasValues ? "Also: " : ""}${fields.join(", ")}`,
  stay: (count: number) => `${groupedDigits(count)} ${count === 1 ? "stays" : "stay"} as is.`,
  moved: "Records changed since you read this, and nothing was done. The plan is updated: review it again.",
  nothing: "Nothing would change: it is like this already.",
  cannot: "It cannot be done:",
  done: "Done.",
  transaction: (sequence: number) => `Transaction ${groupedDigits(sequence)}`,
  giveUp: "Cancel",
  close: "Close",
} as const;
