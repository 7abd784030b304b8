// UI strings for the ledger page.

import { groupedDigits } from "./digits.ts";

export const ledgerText = {
  statuses: {
    Running: "Running",
    Completed: "Completed",
    Failed: "Failed",
    Cancelled: "Cancelled",
    Interrupted: "Interrupted",
  } as Readonly<Record<string, string>>,
  step: (step: string, done: number, total: number | null) =>
    total === null
      ? `${step}, ${groupedDigits(done)} so far`
      : `${step}, ${groupedDigits(done)} of ${groupedDigits(total)}`,
} as const;
