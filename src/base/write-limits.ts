// Limits for queued writes, enforced on arrival and reported to senders.

/** Per user, keys included; beyond it, the caller must retry later. */
export const MAX_WAITING_OF_USER = 256;
/**
 * Total size of a user's waiting requests in bytes; a larger one is accepted if nothing else of the user is waiting.
 */
export const MAX_WAITING_BYTES_OF_USER = 64 * 1024 * 1024;
/** Over all users, about a second's work; the appliance itself and a scan have the same limit each. */
export const MAX_WAITING_COMMANDS = 1_024;
/** Always accepted per user: however full the queue is, every user is served. */
export const RESERVED_OF_USER = 8;
/** Per user in the priority queue for writes that reduce permissions; additional ones wait with the user's others. */
export const MAX_URGENT_OF_USER = 8;
/** Retry-After of a rejected write. */
export const WRITE_RETRY_AFTER_S = 1;

/**
 * Limits for stored outcomes of requests with an Idempotency-Key; the oldest are dropped, of one user, or of the user
 * with the most.
 */
export interface OutcomeLimits {
  readonly perUser: Volume;
  readonly total: Volume;
}

export interface Volume {
  readonly count: number;
  readonly bytes: number;
}

export const OUTCOME_LIMITS: OutcomeLimits = {
  perUser: { count: 10_000, bytes: 16 * 1024 * 1024 },
  total: { count: 100_000, bytes: 128 * 1024 * 1024 },
};
