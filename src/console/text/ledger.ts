// Texts of the ledger page.

import { groupedDigits } from "./digits.ts";

export const ledgerText = {
  ofNow: "The ledger is shown as it is now, whatever instant is chosen.",
  head: "Head",
  headSays:
    "The newest transaction, and the hash over it and everything before it. Keep a copy of both elsewhere: any change to the past changes the hash.",
  sequence: "Sequence",
  instant: "Instant",
  hash: "SHA-256",
  show: "what it changed",
  empty: "The ledger is empty.",
  elsewhere: "Check it elsewhere",
  elsewhereSays:
    "Keep this line. Run it later where the data are, also while the appliance serves: it says whether the ledger still begins with what it is now. DIR is the folder of the data.",
  backup: "A backup is checked the same way, wherever it is:",
  handbook: "More about verifying",
  verification: "Last verification",
  verifications: "Verifications before",
  notPermitted:
    "What verifications found is for Owners who are signed in, while the appliance has one organization. Ask one of them, or run the line above.",
  none: "None was made here yet. The line above does the same in a shell.",
  verifyNow: "Verify now",
  verifyNowSays: "It reads everything, which takes minutes where there is much. The appliance works meanwhile.",
  cancel: "Cancel it",
  backupRunning: (name: string) => `The backup ${name} is being verified. The data are verified after it.`,
  sound: "Ledger intact – no problems found",
  notSound: (count: number) => `${groupedDigits(count)} ${count === 1 ? "finding" : "findings"}: the data are damaged`,
  statuses: {
    Running: "Running",
    Completed: "Completed",
    Failed: "Failed",
    Cancelled: "Cancelled",
    Interrupted: "Interrupted",
  } as Readonly<Record<string, string>>,
  status: "Result",
  started: "Started",
  by: "By",
  took: "Took",
  upTo: "Verified up to",
  sinceThen: (count: number) =>
    count === 0
      ? "the head"
      : `${groupedDigits(count)} ${count === 1 ? "transaction was" : "transactions were"} written since`,
  read: "Read",
  readCounts: (transactions: number, records: number, versions: number) =>
    `${groupedDigits(transactions)} transactions, ${groupedDigits(records)} records, ${groupedDigits(versions)} versions`,
  droppedVersions: (count: number) => `and the hashes of ${groupedDigits(count)} versions that prunes dropped`,
  notChecked: "Pages not checked",
  problem: "Why",
  step: (step: string, done: number, total: number | null) =>
    total === null
      ? `${step}, ${groupedDigits(done)} so far`
      : `${step}, ${groupedDigits(done)} of ${groupedDigits(total)}`,
  findings: "What it found",
  moreFindings: (count: number) => `${groupedDigits(count)} more are not listed.`,
  check: "Check",
  where: "Where",
  message: "What",
  thinned: "Pruned periods",
  neverThinned: "All of history is kept: nothing was ever pruned.",
  thinnedSays: "In these periods a question about an instant gets the last state before it that was kept.",
  until: "Until",
  transactions: "Transactions",
  kept: "What is kept",
  resolutions: {
    daily: "the last state of each day",
    monthly: "the last state of each month",
    none: "only the state at the end",
  } as Readonly<Record<string, string>>,
  prunedBy: "Pruned by",
} as const;
