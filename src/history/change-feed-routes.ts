// GET /api/v1/changes: the feed, asked for page by page, waited for, or followed as server-sent events.

import { Type, type Static } from "@sinclair/typebox";
import { VIEWER, type Access, type Actor } from "../access/actor.ts";
import { DomainError, invalid } from "../base/errors.ts";
import { byteStream } from "../http/byte-stream.ts";
import { LIST_HEAD, listTail, metaWith } from "../http/envelope.ts";
import { INT32_MAX, OneOf, QueryList, Uuid } from "../http/schemas.ts";
import type { Surface } from "../http/surface.ts";
import { failed, plainActor, type Inventory, type ResourceCall } from "../resources/answers.ts";
import type { ChangeFeedHead, ChangeFeedInput } from "./change-feed.ts";
import { CHANGE_EXAMPLE, CHANGE_TYPES, ChangeOfAny } from "./change-view.ts";
import type { CommitWatch } from "./commit-watch.ts";

export const FEED_LIMIT_DEFAULT = 100;
export const FEED_LIMIT_MAX = 1_000;
/** Seconds that a request may wait for a change. */
export const FEED_WAIT_MAX_S = 60;
/** Between two signs of life on a stream of events. */
export const HEARTBEAT_MS = 15_000;
/** Streams of events at a time, and of one user and that user's keys. */
export const EVENT_STREAMS_MAX = 256;
export const EVENT_STREAMS_OF_USER_MAX = 32;

const EVENT_STREAM = "text/event-stream";
/** What a client waits before it connects again. */
const RETRY_MS = 3_000;

const Query = Type.Object({
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, default: 0, description: "What came after this transaction: `meta.feed.after` of the last answer. 0: from the beginning." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: FEED_LIMIT_MAX, default: FEED_LIMIT_DEFAULT, description: "Versions at most; a transaction is never divided, so that a large one may bring more." })),
  wait: Type.Optional(Type.Integer({ minimum: 0, maximum: FEED_WAIT_MAX_S, default: 0, description: "Seconds to wait for a change where there is none yet." })),
  types: Type.Optional(QueryList(OneOf(CHANGE_TYPES), { description: "Only these kinds of record." })),
  network_id: Type.Optional(Uuid),
});
type FeedCall = ResourceCall<unknown, Static<typeof Query>, unknown>;

const FeedMeta = Type.Object({
  feed: Type.Object({
    after: Type.Integer({ minimum: 0, description: "Go on from here." }),
    has_more: Type.Boolean({ description: "Whether more is there already." }),
    thinned_until: Type.Optional(Type.Integer({ minimum: 1, description: "Only where `after` lies in thinned history: of the versions up to this transaction some were dropped. After it none is missing." })),
  }),
});

/** /api/v1/changes. */
export function changeFeedRoutes(surface: Surface<Actor, Access>, inventory: Inventory, watch: CommitWatch): void {
  let streams = 0;
  const streamsOf = new Map<number, number>();

  surface.get(
    "/api/v1/changes",
    {
      operationId: "listChanges",
      summary: "The changes in the order in which they were committed",
      description:
        "Gap-free: who goes on from `meta.feed.after` misses nothing, however long it was away, because the feed is the history. Every version stands in it once, with its record as it then was; hosts and services come without their children, which are changes of their own. With `Accept: text/event-stream` the same as server-sent events: each `change` is one version, the last of a transaction carries its sequence as the event's id, and `Last-Event-ID` goes on after it; who is cut off within a transaction gets the whole of it again. Where history was thinned, what is left of it is told, and `meta.feed.thinned_until` (or an event `thinned`) says so.",
      group: "Changes",
      access: VIEWER,
      query: Query,
      answer: Type.Array(ChangeOfAny),
      meta: FeedMeta,
      media: [{ type: EVENT_STREAM, description: "The changes as they are committed, with a comment as a sign of life every 15 seconds.", example: `event: change\nid: 42\ndata: ${JSON.stringify(CHANGE_EXAMPLE)}\n\n` }],
      errors: ["rate_limit_exceeded"],
      example: { data: [CHANGE_EXAMPLE], meta: { feed: { after: 42, has_more: false } } },
    },
    (call) => (accepts(call.request, EVENT_STREAM) ? events(call) : page(call)),
  );

  async function page(call: FeedCall): Promise<Response> {
    const { after = 0, limit = FEED_LIMIT_DEFAULT, wait = 0 } = call.query;
    assertNotBeyond(after);
    let { head, chunks } = await read(call.actor, call.query, after, limit, "json");
    const { thinnedUntil } = head;
    if (wait > 0) {
      const { signal, release } = watch.patience(wait * 1_000, call.request);
      try {
        while (head.count === 0 && (await watch.beyond(head.after, signal)) === "changed") {
          // The page that told nothing is over.
          await chunks[Symbol.asyncIterator]().return?.();
          ({ head, chunks } = await call.again((actor) => read(actor, call.query, head.after, limit, "json")));
        }
      } finally {
        release();
      }
    }
    const meta = metaWith(`"feed":{"after":${head.after},"has_more":${head.hasMore}${thinnedUntil === null ? "" : `,"thinned_until":${thinnedUntil}`}}`);
    return new Response(byteStream(LIST_HEAD, chunks, listTail(meta), failed(inventory, call)), { headers: { ...call.headers, "content-type": "application/json" } });
  }

  function events(call: FeedCall): Response {
    const after = lastEventId(call.request) ?? call.query.after ?? 0;
    assertNotBeyond(after);
    const { userN } = call.actor;
    const own = streamsOf.get(userN) ?? 0;
    if (own >= EVENT_STREAMS_OF_USER_MAX) throw new DomainError("rate_limit_exceeded", `You have ${EVENT_STREAMS_OF_USER_MAX} streams of changes open already; close one, or ask with wait.`, { retry_after_seconds: 5 });
    if (streams >= EVENT_STREAMS_MAX) throw new DomainError("rate_limit_exceeded", `${EVENT_STREAMS_MAX} streams of changes are open already; close one, or ask with wait.`, { retry_after_seconds: 5 });
    // For proxies that would wait for the end of it.
    const headers = { ...call.headers, "content-type": EVENT_STREAM, "cache-control": "no-store", "x-accel-buffering": "no" };
    if (call.request.method === "HEAD") return new Response(null, { headers });
    streams += 1;
    streamsOf.set(userN, own + 1);
    return new Response(byteStream(`retry: ${RETRY_MS}\n\n`, counted(follow(call, after), userN), "", failed(inventory, call)), { headers });
  }

  async function* follow(call: FeedCall, start: number): AsyncGenerator<Uint8Array> {
    let after = start;
    try {
      for (;;) {
        // Each time with the rights of the moment: a key that is disabled hears no more.
        const { head, chunks } = await call.again((actor) => read(actor, call.query, after, call.query.limit ?? FEED_LIMIT_DEFAULT, "events"));
        if (after === start && head.thinnedUntil !== null) yield thinnedEvent(head.thinnedUntil);
        yield* chunks;
        after = head.after;
        if (head.hasMore) continue;
        const { signal, release } = watch.patience(HEARTBEAT_MS, call.request);
        const outcome = await watch.beyond(after, signal);
        release();
        if (outcome === "closed" || call.request.signal.aborted) return;
        if (outcome === "elapsed") yield HEARTBEAT;
      }
    } catch (error) {
      // Rights that were lost end the stream: connecting again tells why.
      if (!(error instanceof DomainError)) throw error;
    }
  }

  /** The same steps; one stream less once they are over or no longer wanted, also where nobody has asked for the first of them. */
  function counted(steps: AsyncGenerator<Uint8Array>, userN: number): AsyncIterable<Uint8Array> {
    let isOpen = true;
    const end = () => {
      if (!isOpen) return;
      isOpen = false;
      streams -= 1;
      const left = (streamsOf.get(userN) ?? 1) - 1;
      if (left === 0) streamsOf.delete(userN);
      else streamsOf.set(userN, left);
    };
    const next = async () => {
      try {
        const step = await steps.next();
        if (step.done === true) end();
        return step;
      } catch (error) {
        end();
        throw error;
      }
    };
    const stop = () => {
      end();
      return steps.return(undefined);
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
  }

  /** A page's beginning, and its versions as they are made. */
  async function read(actor: Actor, query: Static<typeof Query>, after: number, limit: number, format: ChangeFeedInput["format"]): Promise<{ head: ChangeFeedHead; chunks: AsyncIterable<Uint8Array> }> {
    const networkN = query.network_id === undefined ? null : (inventory.reader.recordN(query.network_id) ?? 0);
    const input: ChangeFeedInput = { actor: plainActor(actor), types: query.types ?? CHANGE_TYPES, networkN, after, limit, format };
    const steps = (await inventory.longReads.start("change_feed", input))[Symbol.asyncIterator]();
    const first = await steps.next();
    if (first.done === true) throw new Error("change feed: it has no beginning");
    return { head: JSON.parse(decoder.decode(first.value)) as ChangeFeedHead, chunks: { [Symbol.asyncIterator]: () => steps } };
  }

  /** Beyond the newest transaction is a place in another ledger: that of data which were put back since. */
  function assertNotBeyond(after: number): void {
    const { sequence } = inventory.reader.head();
    if (after > sequence) throw invalid([{ path: "/after", message: `is beyond the last transaction, ${sequence}: the data are others than those that it was read from`, value: after }]);
  }
}

function accepts(request: Request, type: string): boolean {
  return (request.headers.get("accept") ?? "").split(",").some((each) => each.split(";", 1)[0]?.trim().toLowerCase() === type);
}

function lastEventId(request: Request): number | null {
  const id = request.headers.get("last-event-id");
  if (id === null || id === "") return null;
  if (!/^\d{1,10}$/.test(id)) throw invalid([{ path: "/Last-Event-ID", message: "must be the sequence of a transaction", value: id.slice(0, 100) }]);
  return Number(id);
}

/** Says that of the versions up to a transaction some were dropped. */
function thinnedEvent(until: number): Uint8Array {
  return new TextEncoder().encode(`event: thinned\ndata: {"thinned_until":${until}}\n\n`);
}

const decoder = new TextDecoder();
const HEARTBEAT = new TextEncoder().encode(": still here\n\n");
