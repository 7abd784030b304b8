// Texts of the table import.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

const rows = (count: number) => `${groupedDigits(count)} ${count === 1 ? "row" : "rows"}`;

export const tableText = {
  open: "Import CSV",
  title: (many: string) => `Import ${many} from CSV`,
  help: "The columns of “Export CSV”, in any order, or fewer. A row whose record is there already changes it. Nothing is ever deleted.",
  file: "A CSV file",
  drop: "or drop it here",
  another: "Another file",
  charset: "Its text is not UTF-8. Encoding",
  tooLarge: (most: number) => `At most ${groupedDigits(most)} rows at once.`,
  unreadable: (row: number) =>
    `Row ${groupedDigits(row)} cannot be read: its quotes do not end, or it has more cells than columns.`,
  unread: "It cannot be read: it is a folder, or no longer there.",
  empty: "There are no rows in it.",
  read: (name: string, count: number) => `${isolated(name)}: ${rows(count)}`,
  columns: (matched: number, all: number) => `${groupedDigits(matched)} of ${groupedDigits(all)} columns are matched`,
  columnOf: (name: string) => `Column ${name} is`,
  leaveOut: "left out",
  twice: (name: string) => `Two columns are ${isolated(name)}.`,
  network: "Network of all rows",
  plan: "Preview",
  planning: "Looking…",
  counts: (created: number, updated: number, unchanged: number) =>
    `${groupedDigits(created)} to create, ${groupedDigits(updated)} to update, ${groupedDigits(unchanged)} unchanged.`,
  nothing: "Nothing would change: every row already matches its record.",
  ignored: (columns: readonly string[]) => `Not written, only shown by exports: ${columns.join(", ")}.`,
  apply: (count: number) => `Write ${rows(count)}`,
  replanned: "Some records changed meanwhile. The preview is updated.",
  wrong: (issues: number, rowCount: number) =>
    `${groupedDigits(issues)} ${issues === 1 ? "thing is" : "things are"} wrong in ${rows(rowCount)}. Fix them here, or in the file.`,
  row: "Row",
  cell: (column: string, row: number) => `${column} of row ${groupedDigits(row)}`,
  leaveRow: "Leave out",
  leaveRowOf: (row: number) => `Leave out row ${groupedDigits(row)}`,
  moreWrong: (count: number) => `And ${rows(count)} more, shown once these are fixed.`,
  restored: "The table that you had begun is back.",
} as const;
