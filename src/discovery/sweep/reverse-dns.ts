// Reverse DNS through the system's resolvers or the given ones. Limited concurrency, since resolvers drop floods; a
// failure does not mean "no name".

import { Resolver } from "node:dns/promises";
import type { Ip } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import { hostnameIn, reverseName } from "./reverse-name.ts";
import { Slots } from "./slots.ts";

/** Of 1,000 concurrent queries, a resolver answered a quarter. */
const MAX_IN_FLIGHT = 100;
const TIMEOUT_MS = 2_000;
const MAX_JITTER_MS = 40;
/** Consecutive failures after which the server counts as down, to save two seconds per host. */
const MAX_UNANSWERED = 100;

interface ReverseDnsParts {
  readonly timers: Timers;
  readonly random: Random;
  /** IP addresses, with a port if not 53 (`192.0.2.1:5353`, `[fd00::1]:5353`); empty for the system's resolvers. */
  readonly servers: readonly string[];
}

export class ReverseDns {
  private readonly resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  private readonly slots = new Slots(MAX_IN_FLIGHT);
  private readonly timers: Timers;
  private readonly random: Random;
  private readonly waiting = new Set<(reason: unknown) => void>();
  private unanswered = 0;
  private ended: { reason: unknown } | null = null;

  constructor({ timers, random, servers }: ReverseDnsParts) {
    this.timers = timers;
    this.random = random;
    if (servers.length > 0) this.resolver.setServers(servers);
  }

  /** Lower case; null if no name; undefined on failure. */
  async nameOf(ip: Ip): Promise<string | null | undefined> {
    return await this.slots.during(async () => {
      if (this.unanswered >= MAX_UNANSWERED) return undefined;
      const [byte = 0] = this.random.bytes(1);
      await this.wait((byte / 255) * MAX_JITTER_MS);
      return await this.query(reverseName(ip));
    });
  }

  /** Rejects current and later calls with the reason. */
  end(reason: unknown): void {
    this.ended ??= { reason };
    this.slots.end(reason);
    this.resolver.cancel();
    for (const refuse of [...this.waiting]) refuse(reason);
  }

  private wait(ms: number): Promise<void> {
    return this.unlessEnded((resolve) => this.timers.after(ms, resolve));
  }

  /** The resolver's timeout counts whole seconds per server in turn: this one covers all. */
  private query(name: string): Promise<string | null | undefined> {
    return this.unlessEnded((resolve) => {
      let hasConcluded = false;
      const conclude = (name: string | null | undefined, isAnswered: boolean): void => {
        if (!hasConcluded) this.unanswered = isAnswered ? 0 : this.unanswered + 1;
        hasConcluded = true;
        resolve(name);
      };
      this.resolver.resolvePtr(name).then(
        (answers) => conclude(hostnameIn(answers), true),
        (error: unknown) => conclude(isNotFound(error) ? null : undefined, codeOf(error) !== "ETIMEOUT"),
      );
      return this.timers.after(TIMEOUT_MS, () => conclude(undefined, false));
    });
  }

  /**
   * @param start returns a function that cancels its timer
   */
  private unlessEnded<Result>(start: (resolve: (result: Result) => void) => () => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(this.ended.reason);
      const settle = (action: () => void): void => {
        if (!this.waiting.delete(refuse)) return;
        cancel();
        action();
      };
      const refuse = (reason: unknown): void => settle(() => reject(reason));
      this.waiting.add(refuse);
      const cancel = start((result) => settle(() => resolve(result)));
    });
  }
}

/** NXDOMAIN or no PTR records. */
function isNotFound(error: unknown): boolean {
  return codeOf(error) === "ENOTFOUND" || codeOf(error) === "ENODATA";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
