// Names of addresses by reverse DNS, asked of the system's resolvers or of those that were named.
// Must not ask so many at once that a resolver drops them, nor take a failure for "it has none".

import { Resolver } from "node:dns/promises";
import type { Ip } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import { hostnameIn, reverseName } from "./reverse-name.ts";
import { Slots } from "./slots.ts";

/** Of 1,000 at once one resolver answered a quarter. */
const MAX_IN_FLIGHT = 100;
const TIMEOUT_MS = 2_000;
const MAX_JITTER_MS = 40;
/** After so many in a row that nobody answered, nobody will: a sweep does not wait two seconds for every host. */
const MAX_UNANSWERED = 100;

export interface ReverseDnsParts {
  readonly timers: Timers;
  readonly random: Random;
  /** IP addresses, each with a port where it is not 53 (`192.0.2.1:5353`, `[fd00::1]:5353`); empty for those of the system. */
  readonly servers: readonly string[];
}

export class ReverseDns {
  readonly #resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  readonly #slots = new Slots(MAX_IN_FLIGHT);
  readonly #timers: Timers;
  readonly #random: Random;
  readonly #waiting = new Set<(reason: unknown) => void>();
  #unanswered = 0;
  #ended: { reason: unknown } | null = null;

  constructor({ timers, random, servers }: ReverseDnsParts) {
    this.#timers = timers;
    this.#random = random;
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  /** A host name in lower case; null when the address has none; undefined when nobody answered, or by a failure. */
  async nameOf(ip: Ip): Promise<string | null | undefined> {
    return await this.#slots.during(async () => {
      if (this.#unanswered >= MAX_UNANSWERED) return undefined;
      const [byte = 0] = this.#random.bytes(1);
      await this.#wait((byte / 255) * MAX_JITTER_MS);
      return await this.#ask(reverseName(ip));
    });
  }

  /** Whoever asks gets the reason as an error, now and later. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#slots.end(reason);
    this.#resolver.cancel();
    for (const refuse of [...this.#waiting]) refuse(reason);
  }

  #wait(ms: number): Promise<void> {
    return this.#unlessEnded((resolve) => this.#timers.after(ms, resolve));
  }

  /** The resolver's own timeout counts whole seconds, and its servers one after the other: ours is over all of it. */
  #ask(name: string): Promise<string | null | undefined> {
    return this.#unlessEnded((resolve) => {
      let isOver = false;
      const conclude = (name: string | null | undefined, isAnswered: boolean): void => {
        if (!isOver) this.#unanswered = isAnswered ? 0 : this.#unanswered + 1;
        isOver = true;
        resolve(name);
      };
      this.#resolver.resolvePtr(name).then(
        (answers) => conclude(hostnameIn(answers), true),
        (error: unknown) => conclude(hasNone(error) ? null : undefined, codeOf(error) !== "ETIMEOUT"),
      );
      return this.#timers.after(TIMEOUT_MS, () => conclude(undefined, false));
    });
  }

  /** @param start answers what calls its timer off */
  #unlessEnded<Result>(start: (resolve: (result: Result) => void) => () => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended.reason);
      const settle = (how: () => void): void => {
        if (!this.#waiting.delete(refuse)) return;
        cancel();
        how();
      };
      const refuse = (reason: unknown): void => settle(() => reject(reason));
      this.#waiting.add(refuse);
      const cancel = start((result) => settle(() => resolve(result)));
    });
  }
}

/** NXDOMAIN, or a name without PTR records. */
function hasNone(error: unknown): boolean {
  return codeOf(error) === "ENOTFOUND" || codeOf(error) === "ENODATA";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
