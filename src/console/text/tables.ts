// Texts of the table import.

import { counted } from "./digits.ts";

export const tableText = {
  wrong: (issues: number, rowCount: number) =>
    `${counted(issues, "thing is", "things are")} wrong in ${counted(rowCount, "row", "rows")}. Fix them here, or in the file.`,
} as const;
