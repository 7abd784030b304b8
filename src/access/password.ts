// Passwords: rules, Argon2id hash, and a limit on concurrent hashing.
// Independent of accounts. Does not limit attempts; see sessions/sign-in-throttle.ts.

import { availableParallelism } from "node:os";
import { DomainError, invalid } from "../base/errors.ts";
import { foldCase } from "../base/text.ts";
import { isVisible, withoutInvisible } from "../base/visible.ts";

/** In characters (code points). */
export const PASSWORD_MIN_LENGTH = 10;

/** In characters (code points). */
export const PASSWORD_MAX_LENGTH = 1024;

/** In UTF-8 bytes as sent: four per character. */
export const PASSWORD_MAX_BYTES = 4 * PASSWORD_MAX_LENGTH;

/** Argon2id (RFC 9106), OWASP's recommendation for one lane: 19 MiB, two passes. */
export const PASSWORD_MEMORY_KIB = 19_456;
export const PASSWORD_TIME_COST = 2;

/** Number of concurrent hashes, each holding its 19 MiB: two, but one core always stays free for other requests. */
export const PASSWORD_MAX_RUNNING = Math.max(1, Math.min(2, availableParallelism() - 1));

/** Number of hashes that may wait, in each of the two queues. */
export const PASSWORD_MAX_WAITING = 32;

/** A full queue takes about this time at 60 ms per hash. */
export const PASSWORD_RETRY_AFTER_SECONDS = 2;

/**
 * Error text for a new password, to follow the field's name ("must have …"), or null. Never echoes it. Counted in NFC,
 * the form that is hashed. Rejects control characters as in RFC 8265 §4.2: they are the carriage return of a password
 * file, or cannot be retyped. Of easily guessed passwords, rejects only obvious ones (NIST SP 800-63B §5.1.1.2):
 * spaces only, one repeated character, the user's own address.
 * @param email of the user
 */
export function describePasswordProblem(password: string, email: string): string | null {
  const prepared = prepare(password);
  if (prepared === null || lengthOf(prepared) > PASSWORD_MAX_LENGTH) {
    return `must have at most ${PASSWORD_MAX_LENGTH} characters (${PASSWORD_MAX_BYTES} bytes of valid Unicode)`;
  }
  if (lengthOf(prepared) < PASSWORD_MIN_LENGTH) return `must have at least ${PASSWORD_MIN_LENGTH} characters`;
  if (/\p{Cc}/u.test(prepared)) return "must not contain control characters such as a line break or a tab";
  if (!isVisible(prepared)) return "must have visible characters";
  const visible = withoutInvisible(prepared).trim();
  if (new Set(visible.replaceAll(/\s/gu, "")).size === 1) return "must have different characters, not one repeated";
  const address = foldCase(email);
  if ([address, address.slice(0, address.lastIndexOf("@"))].includes(foldCase(visible)))
    return "must not be the user's e-mail address, nor the part before its @";
  return null;
}

/**
 * Argon2id hash in PHC form (`$argon2id$v=19$m=…`) with a new salt. Computed off the calling thread, in the queue for
 * known users: setting a password requires proof of identity. Throws `validation_failed` at `/password` for a password
 * that `describePasswordProblem` rejects, `rate_limit_exceeded` if the queue is full.
 * @param email of the user
 */
export async function hashPassword(password: string, email: string): Promise<string> {
  const problem = describePasswordProblem(password, email);
  if (problem !== null) throw invalid({ path: "/password", message: problem });
  return gate.run(() => Bun.password.hash(password.normalize("NFC"), ARGON2ID), true);
}

/**
 * Whether the hash was made from the password. With `null`, for an unknown account or one without a password, it does
 * the same work and returns false, so that the time taken reveals nothing. Computed off the calling thread. A value
 * that cannot be a password (empty, too many bytes, broken Unicode) returns false immediately for any account. Throws
 * `rate_limit_exceeded` if the queue is full, and the platform's error for a damaged hash.
 * @param isKnown whether the user has signed in from this source before: selects a queue that strangers cannot fill
 */
export async function verifyPassword(password: string, hash: string | null, isKnown = false): Promise<boolean> {
  const prepared = prepare(password);
  if (prepared === null || prepared === "") return false;
  const matches = await gate.run(() => Bun.password.verify(prepared, hash ?? DUMMY_HASH), isKnown);
  return matches && hash !== null;
}

/**
 * Limits concurrent work and queued work; rejects the rest immediately, so that a flood cannot exhaust memory. Known
 * users have their own queue, and the two queues alternate, so that neither can starve the other.
 */
export class PasswordGate {
  private readonly maxRunning: number;
  private readonly maxWaiting: number;
  private readonly knownWaiting: (() => void)[] = [];
  private readonly othersWaiting: (() => void)[] = [];
  private running = 0;
  private wasKnown = false;

  /** @param maxWaiting in each queue */
  constructor(maxRunning: number, maxWaiting: number) {
    this.maxRunning = maxRunning;
    this.maxWaiting = maxWaiting;
  }

  /**
   * Runs the work when its turn comes. Throws `rate_limit_exceeded` (retry_after_seconds) if the queue is full, and the
   * errors of the work.
   */
  async run<T>(work: () => Promise<T>, isKnown = false): Promise<T> {
    await this.acquire(isKnown ? this.knownWaiting : this.othersWaiting);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  private async acquire(queue: (() => void)[]): Promise<void> {
    if (this.running < this.maxRunning) {
      this.running += 1;
      return;
    }
    if (queue.length >= this.maxWaiting) {
      throw new DomainError(
        "rate_limit_exceeded",
        `Too many sign-ins are being checked right now. Try again in ${PASSWORD_RETRY_AFTER_SECONDS} seconds.`,
        { retry_after_seconds: PASSWORD_RETRY_AFTER_SECONDS },
      );
    }
    const turn = Promise.withResolvers<void>();
    queue.push(turn.resolve);
    await turn.promise;
  }

  /** Hands the slot directly to the next in the queue; otherwise a newcomer could take it. */
  private release(): void {
    const [first, second] = this.wasKnown
      ? [this.othersWaiting, this.knownWaiting]
      : [this.knownWaiting, this.othersWaiting];
    this.wasKnown = (first.length > 0 ? first : second) === this.knownWaiting;
    const next = first.shift() ?? second.shift();
    if (next) next();
    else this.running -= 1;
  }
}

const ARGON2ID = { algorithm: "argon2id", memoryCost: PASSWORD_MEMORY_KIB, timeCost: PASSWORD_TIME_COST } as const;

/** Hash of a discarded random password, with the parameters above. */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$mSotCU94OJHIke8Y/qjVNRZMz9iOh1MbrNGxiY+Dv/Y$viiiqp8h6dFSaqMZIkNkG51IkPMlo8EfOQ1JlnpWEeE";

/** One per process, to limit memory over all callers. */
const gate = new PasswordGate(PASSWORD_MAX_RUNNING, PASSWORD_MAX_WAITING);

/**
 * NFC (RFC 8265 §4.2.2), so that keyboards composing accents differently agree. Null beyond the byte limit or for lone
 * surrogates.
 */
function prepare(password: string): string | null {
  if (!password.isWellFormed() || Buffer.byteLength(password) > PASSWORD_MAX_BYTES) return null;
  return password.normalize("NFC");
}

function lengthOf(text: string): number {
  return [...text].length;
}
