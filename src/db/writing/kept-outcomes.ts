// Outcomes of idempotent requests, stored per caller and key in the request's transaction, and replayed to retries for
// a day. Encrypted, as they may contain secrets; keys are hashed, as clients may put secrets in them. Limited in size,
// and not part of history.

import { DomainError } from "../../base/errors.ts";
import type { Instant } from "../../base/instant.ts";
import { OUTCOME_LIMITS, type OutcomeLimits, type Volume } from "../../base/write-limits.ts";
import type { Sql } from "../connection.ts";
import { withChecksum } from "../row-checksum.ts";
import { idempotencyKeys } from "../schema.ts";
import type { CommandOutcome } from "./transaction.ts";

/**
 * Stored part of a result: all of it; only the id of the written record, which is then read as of its transaction; or
 * nothing, if the entire response is read as of the transaction.
 */
export type StoredPart = "All" | "Id" | "Nothing";

/** Identifies a request that may be retried. */
export interface Repeatable {
  /** User whose quota it counts against. */
  readonly userN: number;
  /** User or API key. */
  readonly callerN: number;
  /** As sent. */
  readonly key: string;
  /** Fingerprint of the whole request, hexadecimal. */
  readonly fingerprint: string;
  readonly storedPart: StoredPart;
}

/** Encrypts strings for a context. */
export interface Box {
  seal(plaintext: string, context: string): Uint8Array;
  /** @throws Error if the context or key differs */
  open(box: Uint8Array, context: string): string;
}

export const OUTCOME_TTL_MS = 24 * 60 * 60 * 1000;

/** Fraction of the limit to keep when evicting, so that not every request evicts. */
const EVICTION_TARGET = 0.9;
/** Minimum length, in characters, for compression: the plan of a large restore. */
const COMPRESSION_MIN_LENGTH = 4_096;
/** Prefix of compressed text. A JSON object never starts with it. */
const COMPRESSED = "deflate:";

/** Outcome of an earlier request. */
export interface KnownOutcome extends CommandOutcome<unknown> {
  /** Permissions at the time, from the writer's ReplayPolicy. */
  readonly rights: unknown;
}

interface StoredOutcome extends CommandOutcome<unknown> {
  readonly fingerprint: string;
  readonly rights?: unknown;
}

export class OutcomeStore {
  private readonly db: Sql;
  private readonly box: Box;
  private readonly limits: OutcomeLimits;
  /** Upper bounds per user: may include entries that were evicted or rolled back since they were counted. */
  private readonly byUser = new Map<number, Volume>();
  private total: Volume | null = null;

  constructor(db: Sql, box: Box, limits = OUTCOME_LIMITS) {
    this.db = db;
    this.box = box;
    this.limits = limits;
  }

  /**
   * Finds the stored outcome; null if the request is new.
   * @throws DomainError idempotency_key_reused for another request with the key
   */
  find(request: Repeatable, now: Instant): KnownOutcome | null {
    const found = this.db.$client
      .query("SELECT sealed FROM idempotency_keys WHERE caller_n = ? AND key = ? AND at > ?")
      .values(request.userN, storedKey(request), now - OUTCOME_TTL_MS)[0];
    if (found === undefined) return null;
    const [sealed] = found as [Uint8Array];
    const json = decompress(this.box.open(sealed, contextOf(request)));
    const { fingerprint, rights, ...outcome } = JSON.parse(json) as StoredOutcome;
    if (fingerprint !== request.fingerprint) {
      throw new DomainError(
        "idempotency_key_reused",
        `The Idempotency-Key ${request.key} was used for another request in the last 24 hours; nothing was done. Use a new key for a new request.`,
        { key: request.key },
      );
    }
    return { ...outcome, isReplayed: true, rights };
  }

  /**
   * Stores an outcome; evicts expired outcomes, and the oldest ones beyond the limits.
   * @param rights plain data
   */
  store(request: Repeatable, outcome: CommandOutcome<unknown>, now: Instant, rights?: unknown): void {
    const stored: StoredOutcome = {
      ...outcome,
      result: storedPartOf(request.storedPart, outcome.result),
      fingerprint: request.fingerprint,
      rights,
    };
    const sealed = Buffer.from(this.box.seal(compress(JSON.stringify(stored)), contextOf(request)));
    this.db.$client.query("DELETE FROM idempotency_keys WHERE at <= ?").run(now - OUTCOME_TTL_MS);
    this.makeRoom(request.userN, { count: 1, bytes: sealed.length });
    const row = { caller_n: request.userN, key: storedKey(request), at: now, sealed };
    this.db.insert(idempotencyKeys).values(withChecksum(idempotencyKeys, row)).run();
  }

  private makeRoom(userN: number, more: Volume): void {
    const all = sum(this.total ?? this.volumeOf(null), more);
    this.total = isWithin(all, this.limits.total) ? all : sum(this.evictLargestUsers(more), more);
    const own = sum(this.byUser.get(userN) ?? this.volumeOf(userN), more);
    const { perUser } = this.limits;
    this.byUser.set(userN, isWithin(own, perUser) ? own : sum(this.evictOldest(userN, perUser, more), more));
  }

  private volumeOf(userN: number | null): Volume {
    const where = userN === null ? "" : "WHERE caller_n = ?";
    const [count, bytes] = this.db.$client
      .query(`SELECT count(*), coalesce(sum(length(sealed)), 0) FROM idempotency_keys ${where}`)
      .values(...(userN === null ? [] : [userN]))[0] as [number, number];
    return { count, bytes };
  }

  /** Evicts a user's oldest outcomes if over the limit. @returns the remaining volume */
  private evictOldest(userN: number, limit: Volume, more: Volume): Volume {
    let remaining = this.volumeOf(userN);
    if (isWithin(sum(remaining, more), limit)) return remaining;
    const target = share(limit, EVICTION_TARGET);
    const rows = this.db.$client
      .query("SELECT key, length(sealed) FROM idempotency_keys WHERE caller_n = ? ORDER BY at, key")
      .values(userN) as Array<[string, number]>;
    const drop = this.db.$client.query("DELETE FROM idempotency_keys WHERE caller_n = ? AND key = ?");
    for (const [key, bytes] of rows) {
      if (isWithin(sum(remaining, more), target)) break;
      drop.run(userN, key);
      remaining = { count: remaining.count - 1, bytes: remaining.bytes - bytes };
    }
    return remaining;
  }

  /** Evicts the oldest outcomes of the largest users until there is room. @returns the remaining total */
  private evictLargestUsers(more: Volume): Volume {
    const { total } = this.limits;
    let remaining = this.volumeOf(null);
    if (isWithin(sum(remaining, more), total)) return remaining;
    const target = share(total, EVICTION_TARGET);
    // Largest users first, by their share of the count or the size limit, whichever is larger.
    const users = this.db.$client
      .query(
        `SELECT caller_n, count(*), sum(length(sealed)) FROM idempotency_keys GROUP BY caller_n
          ORDER BY max(count(*) * 1.0 / ?, sum(length(sealed)) * 1.0 / ?) DESC`,
      )
      .values(total.count, total.bytes) as Array<[number, number, number]>;
    for (const [userN, count, bytes] of users) {
      if (isWithin(sum(remaining, more), target)) break;
      const stored = this.evictOldest(userN, share({ count, bytes }, 1 / 2), { count: 0, bytes: 0 });
      this.byUser.set(userN, stored);
      remaining = { count: remaining.count - (count - stored.count), bytes: remaining.bytes - (bytes - stored.bytes) };
    }
    return remaining;
  }
}

/** Hexadecimal SHA-256 of caller and key: rows are by user, and a user has several callers. Keys contain no spaces. */
function storedKey({ callerN, key }: Pick<Repeatable, "callerN" | "key">): string {
  return Bun.SHA256.hash(`${callerN} ${key}`, "hex");
}

function storedPartOf(storedPart: StoredPart, result: unknown): unknown {
  if (storedPart === "All") return result;
  return storedPart === "Id" ? { id: (result as { readonly id: string }).id } : null;
}

function compress(json: string): string {
  return json.length < COMPRESSION_MIN_LENGTH
    ? json
    : COMPRESSED + Bun.deflateSync(Buffer.from(json), { level: 1 }).toBase64();
}

function decompress(text: string): string {
  return text.startsWith(COMPRESSED)
    ? new TextDecoder().decode(Bun.inflateSync(Uint8Array.fromBase64(text.slice(COMPRESSED.length))))
    : text;
}

function sum(a: Volume, b: Volume): Volume {
  return { count: a.count + b.count, bytes: a.bytes + b.bytes };
}

function share({ count, bytes }: Volume, factor: number): Volume {
  return { count: Math.floor(count * factor), bytes: Math.floor(bytes * factor) };
}

function isWithin(volume: Volume, limit: Volume): boolean {
  return volume.count <= limit.count && volume.bytes <= limit.bytes;
}

function contextOf({ callerN, key }: Repeatable): string {
  return `idempotency:${callerN}:${key}`;
}
