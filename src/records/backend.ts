// Interface between routes and the appliance, and types of the calls that routes handle.

import type { Access, Actor, CommandActor, WriteSender } from "../access/actor.ts";
import type { Log } from "../base/log.ts";
import type { LongReads } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Calls, NoCalls } from "../db/writing/command.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { Call, RequestContext } from "../http/request.ts";

/** Services of the appliance that routes use. @typeParam C commands that the routes run */
export interface Backend<C extends Calls = NoCalls> {
  readonly reader: Reader;
  readonly writes: WriteQueue<C>;
  readonly longReads: LongReads;
  /** Converts the caller to the actor of commands and the ledger. */
  readonly authorOf: (call: WriteSender) => CommandActor;
  readonly log: Log;
}

/** An authenticated call, regardless of the request. */
export type ActorCall = RequestContext & Pick<WriteSender, "actor" | "access"> & { readonly bodyBytes: number };

/** A handler's view of a call, for resources that name the type. */
export type ResourceCall<P, Q, B> = Call<Actor, P, Q, B, Access>;
