// What repeatable requests came to, kept for a day per caller and key, in the transaction that did it: a repetition is
// answered from here and nothing is done again. Sealed, since an outcome may hold a secret. Not history.

import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { Sql } from "./connection.ts";
import type { Outcome } from "./transaction.ts";

/** What makes a repeated request the same one. */
export interface Repeatable {
  /** The record number of the user or API key. */
  readonly callerN: number;
  readonly key: string;
  /** Of the whole request, as hexadecimal digits. */
  readonly fingerprint: string;
}

/** Seals texts so that they open only under the same context. */
export interface Box {
  seal(plaintext: string, context: string): Uint8Array;
  /** @throws Error for a box of another context or key */
  open(box: Uint8Array, context: string): string;
}

/** How long an outcome is kept. */
export const OUTCOME_KEPT_MS = 24 * 60 * 60 * 1000;

interface Kept extends Outcome<unknown> {
  readonly fingerprint: string;
}

export class KeptOutcomes {
  private readonly db: Sql;
  private readonly box: Box;

  constructor(db: Sql, box: Box) {
    this.db = db;
    this.box = box;
  }

  /**
   * The outcome of the same request, done before; null where it has to be done.
   * @throws DomainError idempotency_key_reused for another request with the key
   */
  find(request: Repeatable, now: Instant): Outcome<unknown> | null {
    const row = this.db.$client
      .query("SELECT sealed FROM idempotency_keys WHERE caller_n = ? AND key = ? AND at > ?")
      .values(request.callerN, request.key, now - OUTCOME_KEPT_MS)[0] as [Uint8Array] | undefined;
    if (row === undefined) return null;
    const { fingerprint, sequence, result } = JSON.parse(this.box.open(row[0], contextOf(request))) as Kept;
    if (fingerprint !== request.fingerprint) {
      throw new DomainError("idempotency_key_reused", `The Idempotency-Key ${request.key} was used for another request within the last 24 hours; nothing was done. A new request takes a new key.`, { key: request.key });
    }
    return { sequence, result, isReplayed: true };
  }

  /** Keeps an outcome, and drops those whose time is up. */
  keep(request: Repeatable, outcome: Outcome<unknown>, now: Instant): void {
    const kept: Kept = { ...outcome, fingerprint: request.fingerprint };
    const sealed = this.box.seal(JSON.stringify(kept), contextOf(request));
    this.db.$client.query("DELETE FROM idempotency_keys WHERE at <= ?").run(now - OUTCOME_KEPT_MS);
    this.db.$client.query("INSERT INTO idempotency_keys (caller_n, key, at, sealed) VALUES (?, ?, ?, ?)").run(request.callerN, request.key, now, sealed as Uint8Array<ArrayBuffer>);
  }
}

function contextOf({ callerN, key }: Repeatable): string {
  return `idempotency:${callerN}:${key}`;
}
