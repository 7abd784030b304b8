// Limits for long-lived idle connections: per user, including the user's keys, and in total.

import { DomainError } from "../base/errors.ts";

const RETRY_AFTER_S = 5;

export class HeldConnections {
  private readonly maxOfUser: number;
  private readonly max: number;
  private readonly description: string;
  private readonly remedy: string;
  private readonly countByUser = new Map<number, number>();
  private held = 0;

  /**
   * @param options.description phrase that follows a number: `change streams open`
   * @param options.remedy advice for the caller: `close one`
   */
  constructor(options: { maxOfUser: number; max: number; description: string; remedy: string }) {
    this.maxOfUser = options.maxOfUser;
    this.max = options.max;
    this.description = options.description;
    this.remedy = options.remedy;
  }

  /** Number of open connections. */
  get count(): number {
    return this.held;
  }

  /**
   * Counts one more connection of a user.
   * @returns releases it; call it at least once
   * @throws DomainError rate_limit_exceeded
   */
  take(userN: number): () => void {
    const own = this.countByUser.get(userN) ?? 0;
    if (own >= this.maxOfUser) throw this.tooMany(`You have ${this.maxOfUser}`);
    if (this.held >= this.max) throw this.tooMany(`There are ${this.max}`);
    this.held += 1;
    this.countByUser.set(userN, own + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.held -= 1;
      const left = (this.countByUser.get(userN) ?? 1) - 1;
      if (left === 0) this.countByUser.delete(userN);
      else this.countByUser.set(userN, left);
    };
  }

  private tooMany(prefix: string): DomainError {
    return new DomainError("rate_limit_exceeded", `${prefix} ${this.description} already; ${this.remedy}.`, {
      retry_after_seconds: RETRY_AFTER_S,
    });
  }
}
