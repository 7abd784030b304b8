// Texts for bulk writes.

import { groupedDigits } from "./digits.ts";

const counted = (count: number, [one, many]: readonly [string, string]) =>
  `${groupedDigits(count)} ${count === 1 ? one : many}`;

type Words = readonly [one: string, many: string];

export const bulkText = {
  /** Labels of the buttons above a list. */
  edit: "Edit",
  tags: "Tags",
  delete: "Delete",
  scope: (count: number, words: Words) => counted(count, words),
  ofFilter: (count: number, words: Words) =>
    `All ${groupedDigits(count)} matching ${count === 1 ? words[0] : words[1]}`,
  tooMany: (most: number) => `At most ${groupedDigits(most)} at once: narrow the filter.`,
  editTitle: (count: number, words: Words) => `Edit ${counted(count, words)}`,
  addField: "Add a field to set",
  leaveField: (name: string) => `Do not set ${name}`,
  emptied: "Left empty, it is cleared.",
  noField: "Choose what to set. What is not chosen stays as it is in each.",
  plan: "Preview",
  planned: (updated: number, unchanged: number, words: Words) =>
    `${counted(updated, words)} would change${unchanged === 0 ? "." : `, ${groupedDigits(unchanged)} would stay as is.`}`,
  nothing: "Nothing would change: all of them already have these values.",
  more: (count: number) => `And ${groupedDigits(count)} more.`,
  to: "to",
  created: "new",
  deleted: "deleted",
  none: "none",
  apply: (count: number, words: Words) => `Change ${counted(count, words)}`,
  back: "Back to the fields",
  replanned: "Some records changed meanwhile. The preview is updated.",
  cancel: "Cancel",
  tagTitle: (count: number, words: Words) => `Tags of ${counted(count, words)}`,
  tag: "Tag",
  chooseTag: "choose one",
  addTag: (count: number, words: Words) => `Add it to ${counted(count, words)}`,
  removeTag: (count: number, words: Words) => `Take it off ${counted(count, words)}`,
  have: (count: number, of: number) => `${groupedDigits(count)} of ${groupedDigits(of)} have it.`,
  deleteTitle: (count: number, words: Words) => `Delete ${counted(count, words)}`,
  unsure: "The answer was lost. Safe to retry: nothing is done twice.",
} as const;
