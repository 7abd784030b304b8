// How many writes may wait for their turn: checked where they are taken, and reported to those who send them.

/** Of one user, keys included; beyond that the caller is told to come back. */
export const MAX_WAITING_OF_USER = 256;
/** What these were sent with, in bytes; one that is larger is taken where nothing else of its user waits. */
export const MAX_WAITING_BYTES_OF_USER = 64 * 1024 * 1024;
/** Of all users, about a second's work; of the appliance itself, and of a scan, as many. */
export const MAX_WAITING_COMMANDS = 1_024;
/** So many of each user are taken all the same: however many users fill the line, everybody else is served as well. */
export const RESERVED_OF_USER = 8;
/** Of one user that may wait where what lowers rights goes first; further ones wait with the user's others. */
export const MAX_URGENT_OF_USER = 8;
/** What a caller who is refused is told to wait. */
export const WRITE_RETRY_AFTER_S = 1;

/**
 * What is remembered of requests with an Idempotency-Key: beyond it the oldest go, of one user, or of whoever has the
 * most.
 */
export interface OutcomeLimits {
  readonly ofUser: Volume;
  readonly inAll: Volume;
}

export interface Volume {
  readonly count: number;
  readonly bytes: number;
}

export const OUTCOME_LIMITS: OutcomeLimits = {
  ofUser: { count: 10_000, bytes: 16 * 1024 * 1024 },
  inAll: { count: 100_000, bytes: 128 * 1024 * 1024 },
};
