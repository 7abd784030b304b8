// Verification thread and its messages: `netledger verify` next to a running appliance, or for a backup, with its own
// connection. It stops between two steps on request.

import { describeFault } from "../base/errors.ts";
import type { Messages, ThreadMain } from "../base/thread.ts";
import { openReadOnly } from "../db/connection.ts";
import { openBackup } from "../db/files/backup-file.ts";
import { DatabaseRefused, orRefused } from "../db/files/migrate.ts";
import { readFailureOf } from "../db/sqlite-failures.ts";
import { Findings, type ListedDamage } from "../history/verify/findings.ts";
import { type Report, type VerifyProgress, verifySteps } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";

export interface VerifyMessages extends Messages {
  readonly to: ToVerifier;
  readonly from: FromVerifier;
}

type ToVerifier =
  /** `isBackup`: the file has no writer, and everything in it is checked. */
  { readonly type: "start"; readonly database: string; readonly isBackup: boolean } | { readonly type: "stop" };
type FromVerifier =
  | { readonly type: "progress"; readonly progress: VerifyProgress; readonly found: number }
  | ({ readonly type: "ended"; readonly found: ListedDamage } & VerifyOutcome);

/** Outcome of a verification. */
export type VerifyOutcome =
  | { readonly outcome: "completed"; readonly report: Pick<Report, "head" | "count" | "dropped" | "unchecked"> }
  | { readonly outcome: "stopped" }
  /** `problem` for the caller, null for an error of the appliance itself; `cause` for the log. */
  | { readonly outcome: "failed"; readonly problem: string | null; readonly cause: string | null };

/** Runs one verification. */
export const serveVerification: ThreadMain<VerifyMessages> = (post) => {
  let hasStarted = false;
  let isStopped = false;
  return (message) => {
    if (message.type === "start") {
      hasStarted = true;
      void verify(message, post, () => isStopped);
      return;
    }
    isStopped = true;
    if (!hasStarted) post({ type: "ended", outcome: "stopped", found: { findings: [], more: 0 } });
  };
};

interface VerifyTarget {
  readonly database: string;
  readonly isBackup: boolean;
}

async function verify(
  target: VerifyTarget,
  post: (message: FromVerifier) => void,
  isStopped: () => boolean,
): Promise<void> {
  const findings = new Findings();
  const outcome = await outcomeOf(target, findings, post, isStopped).catch(failureOf);
  post({ type: "ended", found: { findings: findings.list, more: findings.more }, ...outcome });
}

/** Closes the database before reporting the end: the receiver may then checkpoint the log. */
async function outcomeOf(
  { database, isBackup }: VerifyTarget,
  findings: Findings,
  post: (message: FromVerifier) => void,
  isStopped: () => boolean,
): Promise<VerifyOutcome> {
  const db = isBackup ? openBackup(database) : orRefused(database, openReadOnly);
  const steps = verifySteps(db, KINDS, { isBusy: !isBackup, findings });
  try {
    for (;;) {
      // Lets messages received in the meantime be handled.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isStopped()) return { outcome: "stopped" };
      const step = steps.next();
      if (step.done === true) {
        const { head, count, dropped, unchecked } = step.value;
        return { outcome: "completed", report: { head, count, dropped, unchecked } };
      }
      post({ type: "progress", progress: step.value, found: findings.list.length + findings.more });
    }
  } finally {
    // Also removes its temporary data.
    steps.return(undefined as never);
    db.$client.close();
  }
}

function failureOf(error: unknown): VerifyOutcome {
  if (error instanceof DatabaseRefused) return { outcome: "failed", problem: error.message, cause: null };
  const databaseProblem = readFailureOf(error);
  if (databaseProblem === null) return { outcome: "failed", problem: null, cause: describeFault(error) };
  return { outcome: "failed", problem: databaseProblem.message, cause: String(databaseProblem.cause) };
}
