// What routes are handed of the appliance, and the calls that they answer.

import type { Access, Actor, AskedBy, CommandActor } from "../access/actor.ts";
import type { Log } from "../base/log.ts";
import type { LongReads } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Calls, NoCalls } from "../db/writing/command.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { Call, RequestContext } from "../http/request.ts";

/** What routes need of the appliance. */
/** @typeParam C the commands that they run */
export interface Backend<C extends Calls = NoCalls> {
  readonly reader: Reader;
  readonly writes: WriteQueue<C>;
  readonly longReads: LongReads;
  /** The caller as commands and the ledger know it. */
  readonly authorOf: (call: AskedBy) => CommandActor;
  readonly log: Log;
}

/** A call of someone, whatever it asks for. */
export type ActorCall = RequestContext & Pick<AskedBy, "actor" | "access"> & { readonly bodyBytes: number };

/** The handler's view of a call, for resources that name the type. */
export type ResourceCall<P, Q, B> = Call<Actor, P, Q, B, Access>;
