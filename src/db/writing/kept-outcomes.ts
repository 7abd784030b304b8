// Outcomes of idempotent requests, stored for a day per caller and key, in the request's transaction, to answer
// repeats. Encrypted, as they may contain secrets; keys hashed, as clients may send secrets; size-limited. Not history.

import { DomainError } from "../../base/errors.ts";
import type { Instant } from "../../base/instant.ts";
import { OUTCOME_LIMITS, type OutcomeLimits, type Volume } from "../../base/write-limits.ts";
import type { Sql } from "../connection.ts";
import { withChecksum } from "../row-checksum.ts";
import { idempotencyKeys } from "../schema.ts";
import type { CommandOutcome } from "./transaction.ts";

/**
 * Stored part of a result: all of it; the id of the written record, to be read as of its transaction; or nothing, if
 * the response is read as of the transaction.
 */
export type KeptOfResult = "All" | "Id" | "Nothing";

/** Identifies a repeatable request. */
export interface Repeatable {
  /** User whose quota it counts against. */
  readonly userN: number;
  /** User or API key. */
  readonly callerN: number;
  /** As sent. */
  readonly key: string;
  /** Fingerprint of the whole request, hexadecimal. */
  readonly fingerprint: string;
  readonly keeps: KeptOfResult;
}

/** Encrypts texts for a context. */
export interface Box {
  seal(plaintext: string, context: string): Uint8Array;
  /** @throws Error if the context or key differs */
  open(box: Uint8Array, context: string): string;
}

export const OUTCOME_KEPT_MS = 24 * 60 * 60 * 1000;

/** Share to keep when evicting, so that not every request evicts. */
const LEFT = 0.9;
/** Minimum length, in characters, for compression: the plan of a large restore. */
const PACKED_LENGTH = 4_096;
/** Prefix of compressed text. A JSON object never starts with it. */
const PACKED = "deflate:";

/** Outcome of an earlier request. */
export interface KnownOutcome extends CommandOutcome<unknown> {
  /** Rights at the time, from the writer's ReplayPolicy. */
  readonly rights: unknown;
}

interface Kept extends CommandOutcome<unknown> {
  readonly fingerprint: string;
  readonly rights?: unknown;
}

export class KeptOutcomes {
  private readonly db: Sql;
  private readonly box: Box;
  private readonly limits: OutcomeLimits;
  /** Upper bounds per user: include entries evicted or rolled back since they were counted. */
  private readonly ofUsers = new Map<number, Volume>();
  private inAll: Volume | null = null;

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
      .values(request.userN, storedKey(request), now - OUTCOME_KEPT_MS)[0];
    if (found === undefined) return null;
    const [sealed] = found as [Uint8Array];
    const { fingerprint, rights, ...outcome } = JSON.parse(unpacked(this.box.open(sealed, contextOf(request)))) as Kept;
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
  keep(request: Repeatable, outcome: CommandOutcome<unknown>, now: Instant, rights?: unknown): void {
    const kept: Kept = {
      ...outcome,
      result: keptOf(request.keeps, outcome.result),
      fingerprint: request.fingerprint,
      rights,
    };
    const sealed = Buffer.from(this.box.seal(packed(JSON.stringify(kept)), contextOf(request)));
    this.db.$client.query("DELETE FROM idempotency_keys WHERE at <= ?").run(now - OUTCOME_KEPT_MS);
    this.makeRoom(request.userN, { count: 1, bytes: sealed.length });
    const row = { caller_n: request.userN, key: storedKey(request), at: now, sealed };
    this.db.insert(idempotencyKeys).values(withChecksum(idempotencyKeys, row)).run();
  }

  private makeRoom(userN: number, more: Volume): void {
    const all = sum(this.inAll ?? this.volumeOf(null), more);
    this.inAll = isWithin(all, this.limits.inAll) ? all : sum(this.dropOfMost(more), more);
    const own = sum(this.ofUsers.get(userN) ?? this.volumeOf(userN), more);
    this.ofUsers.set(
      userN,
      isWithin(own, this.limits.ofUser) ? own : sum(this.dropOldest(userN, this.limits.ofUser, more), more),
    );
  }

  private volumeOf(userN: number | null): Volume {
    const where = userN === null ? "" : "WHERE caller_n = ?";
    const [count, bytes] = this.db.$client
      .query(`SELECT count(*), coalesce(sum(length(sealed)), 0) FROM idempotency_keys ${where}`)
      .values(...(userN === null ? [] : [userN]))[0] as [number, number];
    return { count, bytes };
  }

  /** Evicts a user's oldest outcomes if over the limit. @returns the remaining volume */
  private dropOldest(userN: number, limit: Volume, more: Volume): Volume {
    let left = this.volumeOf(userN);
    if (isWithin(sum(left, more), limit)) return left;
    const wanted = { count: Math.floor(limit.count * LEFT), bytes: Math.floor(limit.bytes * LEFT) };
    const rows = this.db.$client
      .query("SELECT key, length(sealed) FROM idempotency_keys WHERE caller_n = ? ORDER BY at, key")
      .values(userN) as Array<[string, number]>;
    const drop = this.db.$client.query("DELETE FROM idempotency_keys WHERE caller_n = ? AND key = ?");
    for (const [key, bytes] of rows) {
      if (isWithin(sum(left, more), wanted)) break;
      drop.run(userN, key);
      left = { count: left.count - 1, bytes: left.bytes - bytes };
    }
    return left;
  }

  /** Evicts the oldest outcomes of the largest users until there is room. @returns the remaining total */
  private dropOfMost(more: Volume): Volume {
    const { inAll } = this.limits;
    let left = this.volumeOf(null);
    if (isWithin(sum(left, more), inAll)) return left;
    const wanted = { count: Math.floor(inAll.count * LEFT), bytes: Math.floor(inAll.bytes * LEFT) };
    // Ordered by the larger share, of count or size.
    const users = this.db.$client
      .query(
        `SELECT caller_n, count(*), sum(length(sealed)) FROM idempotency_keys GROUP BY caller_n
          ORDER BY max(count(*) * 1.0 / ?, sum(length(sealed)) * 1.0 / ?) DESC`,
      )
      .values(inAll.count, inAll.bytes) as Array<[number, number, number]>;
    for (const [userN, count, bytes] of users) {
      if (isWithin(sum(left, more), wanted)) break;
      const half = { count: Math.floor(count / 2), bytes: Math.floor(bytes / 2) };
      const kept = this.dropOldest(userN, half, { count: 0, bytes: 0 });
      this.ofUsers.set(userN, kept);
      left = { count: left.count - (count - kept.count), bytes: left.bytes - (bytes - kept.bytes) };
    }
    return left;
  }
}

/** SHA-256 of caller and key, hexadecimal: one table per user holds all its callers. Keys contain no spaces. */
function storedKey({ callerN, key }: Pick<Repeatable, "callerN" | "key">): string {
  return Bun.SHA256.hash(`${callerN} ${key}`, "hex");
}

function keptOf(keeps: KeptOfResult, result: unknown): unknown {
  if (keeps === "All") return result;
  return keeps === "Id" ? { id: (result as { readonly id: string }).id } : null;
}

function packed(json: string): string {
  return json.length < PACKED_LENGTH ? json : PACKED + Bun.deflateSync(Buffer.from(json), { level: 1 }).toBase64();
}

function unpacked(text: string): string {
  return text.startsWith(PACKED)
    ? new TextDecoder().decode(Bun.inflateSync(Uint8Array.fromBase64(text.slice(PACKED.length))))
    : text;
}

function sum(one: Volume, other: Volume): Volume {
  return { count: one.count + other.count, bytes: one.bytes + other.bytes };
}

function isWithin(volume: Volume, limit: Volume): boolean {
  return volume.count <= limit.count && volume.bytes <= limit.bytes;
}

function contextOf({ callerN, key }: Repeatable): string {
  return `idempotency:${callerN}:${key}`;
}
