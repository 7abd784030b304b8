// Online copy of a database as of one transaction, during writes. Reads no content except the head.

import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

/** The newest transaction; its hash covers the whole ledger. */
export interface LedgerHead {
  readonly sequence: number;
  /** UTC milliseconds. */
  readonly at: number;
  /** Hexadecimal. */
  readonly hash: string;
}

/**
 * Pages per step, each synced before the next: gigabytes of dirty pages would delay the writer's syncs (measured: 0.9 s
 * worst case; 0.05 s with steps of 8 MiB).
 */
const STEP_PAGES = 1_000;

const HEAD = "SELECT sequence, at, lower(hex(hash)) AS hash FROM history_transactions ORDER BY sequence DESC LIMIT 1";

/**
 * Copies page by page under one read transaction, during which the WAL grows. (Without one, each write restarts the
 * copy: at two writes per second it never passed 1 %.) The copy is not in WAL mode, so that it can be read from
 * read-only media.
 * @param to an empty private file
 * @param onStep called with the pages done and the total; its errors abort the copy
 * @returns the head of the copy; null for an empty ledger
 * @throws SQLite's errors: see isDiskFailure and refusalOf
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
    // Commit first, to release the WAL.
    source.exec("COMMIT");
    exitWalMode(to);
    return head === null ? null : { ...head };
  } finally {
    source.close();
    closeSync(file);
  }
}

/** Head of a database without a running writer; null for an empty ledger. */
export function headOf(path: string): LedgerHead | null {
  const client = new Database(path, { readonly: true, strict: true });
  try {
    return client.query(HEAD).get() as LedgerHead | null;
  } finally {
    client.close();
  }
}

function exitWalMode(path: string): void {
  const client = new Database(path, { readwrite: true, strict: true });
  try {
    client.run("PRAGMA journal_mode = DELETE");
  } finally {
    client.close(true);
  }
}
