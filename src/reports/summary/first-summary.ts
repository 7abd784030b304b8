// Warm-up of the first summary after a start: caches the changes of the last day, so that the first caller waits no
// longer than later ones.

import type { Actor } from "../../access/actor.ts";
import type { Clock } from "../../base/clock.ts";
import type { Timers } from "../../base/timers.ts";
import type { LongReads } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { dayBefore, summary } from "./summary.ts";

/** Delay that lets the first requests after a start go first. */
const AFTER_MS = 1_000;
/** With fewer records, the first summary takes no longer than the next. */
const RECORDS_MIN = 100_000;

interface FirstSummaryOptions {
  readonly reader: Reader;
  readonly longReads: LongReads;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly recordsMin?: number;
}

/** Schedules the warm-up. @returns a function that cancels it */
export function scheduleFirstSummary(options: FirstSummaryOptions): () => void {
  return options.timers.after(AFTER_MS, () => void warmUp(options));
}

async function warmUp({ reader, longReads, clock, recordsMin = RECORDS_MIN }: FirstSummaryOptions): Promise<void> {
  const moment = { at: null, asOf: reader.present() };
  if (moment.asOf.lastN < recordsMin) return;
  // Any organization works, since the counts cover all of them.
  const [[organizationN] = [0]] = reader.statement("SELECT n FROM organizations LIMIT 1").values() as Array<[number]>;
  const actor: Actor = { type: "User", n: 0, userN: 0, role: "Viewer", organizationN, networkNs: null };
  const to = clock.now();
  const day = dayBefore(reader, to, moment.asOf.sequence);
  const input = { actor, networkN: null, networkId: null, moment, day, to };
  try {
    for await (const _ of await longReads.start(summary, input, { bypassesLimit: true }));
  } catch {
    // The next request for the summary reports the error.
  }
}
