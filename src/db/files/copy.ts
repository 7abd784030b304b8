// Copies a database as of one transaction while others write to it. Of the content it reads only the head.

import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

/** The newest transaction; its hash stands for the whole ledger. */
export interface LedgerHead {
  readonly sequence: number;
  /** UTC milliseconds. */
  readonly at: number;
  /** Hexadecimal. */
  readonly hash: string;
}

/**
 * Pages per step. Each is synced before the next: gigabytes of dirty pages would delay the writer's syncs (measured:
 * 0.9 s at worst, with steps of 8 MiB 0.05 s).
 */
const STEP_PAGES = 1_000;

const HEAD = "SELECT sequence, at, lower(hex(hash)) AS hash FROM history_transactions ORDER BY sequence DESC LIMIT 1";

/**
 * Page by page under one read transaction, during which the WAL grows. (Without one, each write restarts the copy: with
 * two writes a second it never passed the first hundredth.) The copy is no WAL database, so it can be read on read-only
 * media.
 * @param to an empty private file
 * @param onStep told the pages done and in all; its errors end the copying
 * @returns the head of the copy; null for an empty ledger
 * @throws SQLite's errors: see isDiskTrouble and refusalOf
 */
export async function copyDatabase(
  from: string,
  to: string,
  onStep: (done: number, total: number) => void = () => {},
): Promise<LedgerHead | null> {
  const source = new DatabaseSync(from, { readOnly: true });
  const file = openSync(to, "r");
  try {
    source.exec("BEGIN");
    const head = (source.prepare(HEAD).get() as LedgerHead | undefined) ?? null;
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) => {
      fdatasyncSync(file);
      onStep(totalPages - remainingPages, totalPages);
    };
    await backup(source, to, { rate: STEP_PAGES, progress });
    // First, to release the WAL.
    source.exec("COMMIT");
    leaveWal(to);
    return head === null ? null : { ...head };
  } finally {
    source.close();
    closeSync(file);
  }
}

/** Of a file at rest; null for an empty ledger. */
export function headOf(path: string): LedgerHead | null {
  const client = new Database(path, { readonly: true, strict: true });
  try {
    return client.query(HEAD).get() as LedgerHead | null;
  } finally {
    client.close();
  }
}

function leaveWal(path: string): void {
  const client = new Database(path, { readwrite: true, strict: true });
  try {
    client.run("PRAGMA journal_mode = DELETE");
  } finally {
    client.close(true);
  }
}
