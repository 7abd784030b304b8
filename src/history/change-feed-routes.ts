// GET /api/v1/changes: the feed by page, by long poll, or as server-sent events.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../access/actor.ts";
import type { Counters } from "../base/counters.ts";
import { DomainError, invalid } from "../base/errors.ts";
import type { CommitWatch } from "../db/commit-watch.ts";
import { NOTIFY_INTERVAL_MS } from "../db/commits.ts";
import { type LongReadOptions, utf8, withEndCallback } from "../db/reading/long-reads.ts";
import { accepts, EVENT_STREAM, STREAM_HEADERS } from "../http/accepts.ts";
import { byteStream } from "../http/byte-stream.ts";
import { HeldConnections } from "../http/held-connections.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend, ResourceCall } from "../records/backend.ts";
import { logBrokenStream } from "../records/broken-stream.ts";
import { LIST_HEAD, listTail, metaWith } from "../schemas/envelope.ts";
import { INT32_MAX, OneOf, QueryList, Uuid } from "../schemas/schemas.ts";
import { type ChangeFeedHead, type ChangeFeedInput, changeFeed } from "./change-feed.ts";
import { CHANGE_EXAMPLE, CHANGE_TYPES, ChangeOfAny } from "./change-view.ts";

const FEED_LIMIT_DEFAULT = 100;
const FEED_LIMIT_MAX = 1_000;
/** Maximum seconds that a request may wait for a change. */
const FEED_WAIT_MAX_S = 60;
/** Interval between two heartbeats on a stream. */
const HEARTBEAT_MS = 15_000;
/** Concurrent streams in total, and per user including that user's keys. */
export const EVENT_STREAMS_MAX = 256;
export const EVENT_STREAMS_OF_USER_MAX = 32;
/** Concurrent long polls in total, and per user including that user's keys. */
const WAITING_MAX = 256;
export const WAITING_OF_USER_MAX = 32;

/** Reconnection delay for clients. */
const RETRY_MS = 3_000;

/** First bytes of a transaction's hash; empty before the first. */
const MARK = /^([0-9a-f]{8})?$/;

const Query = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: INT32_MAX,
      default: 0,
      description: "Changes after this transaction: `meta.feed.after` of the last response. 0: from the beginning.",
    }),
  ),
  mark: Type.Optional(
    Type.String({
      pattern: MARK.source,
      description:
        "`meta.feed.mark` of the last response. After a backup was restored, another transaction can have the number `after`; with the mark the request is then refused (400) instead of silently missing changes.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: FEED_LIMIT_MAX,
      default: FEED_LIMIT_DEFAULT,
      description: "Maximum number of versions. A transaction is never split, so a large one can exceed it.",
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: FEED_WAIT_MAX_S,
      default: 0,
      description: `Seconds to wait if there is no change yet. The first change is returned at once, those of the next ${NOTIFY_INTERVAL_MS} ms together. A user and their keys can have ${WAITING_OF_USER_MAX} requests waiting at a time.`,
    }),
  ),
  types: Type.Optional(QueryList(OneOf(CHANGE_TYPES), { description: "Only records of these kinds." })),
  network_id: Type.Optional(Uuid),
});
type FeedCall = ResourceCall<unknown, Static<typeof Query>, unknown>;

interface FeedPage {
  readonly head: ChangeFeedHead;
  /** The versions, streamed. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

const FeedMeta = Type.Object({
  feed: Type.Object({
    after: Type.Integer({ minimum: 0, description: "Continue from here." }),
    mark: Type.String({
      pattern: MARK.source,
      description: "The mark of this position. Sent back as `mark`, it detects that the data was replaced.",
    }),
    has_more: Type.Boolean({ description: "Whether more changes are available now." }),
    thinned_until: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "Only if `after` is in thinned history: some versions up to this transaction were dropped. After it, none is missing.",
      }),
    ),
  }),
});

/** Registers /api/v1/changes. */
export function changeFeedRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend,
  watch: CommitWatch,
  counters: Counters,
): void {
  const feed = new ChangeFeed(backend, watch, counters);
  surface.get(
    "/api/v1/changes",
    {
      operationId: "listChanges",
      summary: "List changes in commit order",
      description:
        "Gap-free: a client that continues from `meta.feed.after` misses nothing, however long it was away, because the feed is the history. Every version appears once, with the record as it was then. Hosts and services come without their children, which are separate changes. API keys are not included; each has its own history (`/api/v1/auth/keys/{id}/history`). With `Accept: text/event-stream` the changes come as server-sent events: each `change` is one version, and the last one of a transaction has the transaction's sequence and mark as its id, so that `Last-Event-ID` continues after it. A client cut off within a transaction gets all of that transaction again. In thinned history the feed contains the remaining versions, and `meta.feed.thinned_until` (or a `thinned` event) reports it.",
      group: "Changes",
      access: VIEWER,
      query: Query,
      responseSchema: Type.Array(ChangeOfAny),
      meta: FeedMeta,
      media: [
        {
          type: EVENT_STREAM,
          description: `The changes as they are committed, with a keep-alive comment every 15 seconds. A user and their keys can have ${EVENT_STREAMS_OF_USER_MAX} of these streams open at a time.`,
          example: `event: change\nid: 42-9f86d081\ndata: ${JSON.stringify(CHANGE_EXAMPLE)}\n\n`,
        },
      ],
      errors: ["rate_limit_exceeded"],
      example: { data: [CHANGE_EXAMPLE], meta: { feed: { after: 42, mark: "9f86d081", has_more: false } } },
    },
    (call) => (accepts(call.request, EVENT_STREAM) ? feed.events(call) : feed.page(call)),
  );
}

class ChangeFeed {
  private readonly backend: Backend;
  private readonly watch: CommitWatch;
  private readonly streams = new HeldConnections({
    maxOfUser: EVENT_STREAMS_OF_USER_MAX,
    max: EVENT_STREAMS_MAX,
    description: "change streams open",
    remedy: "close one, or poll with wait",
  });
  private readonly waiting = new HeldConnections({
    maxOfUser: WAITING_OF_USER_MAX,
    max: WAITING_MAX,
    description: "requests waiting for changes",
    remedy: "wait for one of them to finish, or subscribe to the event stream",
  });

  constructor(backend: Backend, watch: CommitWatch, counters: Counters) {
    this.backend = backend;
    this.watch = watch;
    counters.gauge("feed_streams", () => this.streams.count);
    counters.gauge("feed_waiting", () => this.waiting.count);
  }

  async page(call: FeedCall): Promise<Response> {
    const { after = 0, mark, limit = FEED_LIMIT_DEFAULT, wait = 0 } = call.query;
    this.assertPosition({ after, mark }, "/after", "/mark");
    const turn = wait > 0 ? this.watch.pollDelay(after, call.request.signal) : null;
    if (turn !== null) await turn;
    const first =
      turn === null
        ? await this.read(call.actor, call.query, after, limit, "json")
        : await call.again((actor) => this.read(actor, call.query, after, limit, "json"));
    const { thinnedUntil } = first.head;
    const { head, chunks } = first.head.count === 0 && wait > 0 ? await this.nextPage(call, first, limit, wait) : first;
    const meta = metaWith(
      `"feed":{"after":${head.after},"mark":"${head.mark}","has_more":${head.hasMore}${thinnedUntil === null ? "" : `,"thinned_until":${thinnedUntil}`}}`,
    );
    return new Response(byteStream(LIST_HEAD, chunks, listTail(meta), logBrokenStream(this.backend, call)), {
      headers: { ...call.headers, "content-type": "application/json" },
    });
  }

  /**
   * The first non-empty page after an empty one, or another empty one on timeout. Nothing is read or held in between.
   */
  private async nextPage(call: FeedCall, empty: FeedPage, limit: number, waitS: number): Promise<FeedPage> {
    await closeChunks(empty.chunks);
    const release = this.waiting.take(call.actor.userN);
    const deadline = this.watch.deadline(waitS * 1_000, call.request.signal);
    let page = empty;
    try {
      while ((await this.watch.waitBeyond(page.head.after, deadline.signal)) === "changed") {
        const { after } = page.head;
        page = await call.again((actor) => this.read(actor, call.query, after, limit, "json", { bypassesLimit: true }));
        // Counts as waiting until the response is sent.
        if (page.head.count > 0) return { head: page.head, chunks: withEndCallback(page.chunks, release) };
        await closeChunks(page.chunks);
      }
    } catch (error) {
      release();
      throw error;
    } finally {
      deadline.release();
    }
    release();
    return page;
  }

  events(call: FeedCall): Response {
    const last = lastEventId(call.request);
    const { after } = last ?? { after: call.query.after ?? 0 };
    if (last === null) this.assertPosition({ after, mark: call.query.mark }, "/after", "/mark");
    else this.assertPosition(last, "/Last-Event-ID", "/Last-Event-ID");
    const release = this.streams.take(call.actor.userN);
    const headers = { ...call.headers, ...STREAM_HEADERS, "content-type": EVENT_STREAM };
    if (call.request.method === "HEAD") {
      release();
      return new Response(null, { headers });
    }
    const events = withEndCallback(this.follow(call, after), release);
    const body = byteStream(`retry: ${RETRY_MS}\n\n`, events, "", logBrokenStream(this.backend, call));
    return new Response(body, { headers });
  }

  private async *follow(call: FeedCall, start: number): AsyncGenerator<Uint8Array> {
    let after = start;
    try {
      for (;;) {
        // Uses current permissions: a disabled key receives nothing more.
        const { head, chunks } = await call.again((actor) =>
          this.read(actor, call.query, after, call.query.limit ?? FEED_LIMIT_DEFAULT, "events", {
            bypassesLimit: true,
          }),
        );
        try {
          if (after === start && head.thinnedUntil !== null) yield thinnedEvent(head.thinnedUntil);
          yield* chunks;
        } finally {
          // Release the versions if the client disconnected.
          await closeChunks(chunks);
        }
        after = head.after;
        if (head.hasMore) continue;
        const { signal, release } = this.watch.deadline(HEARTBEAT_MS, call.request.signal);
        const outcome = await this.watch.waitBeyond(after, signal);
        release();
        if (outcome === "closed" || call.request.signal.aborted) return;
        if (outcome === "elapsed") yield HEARTBEAT;
      }
    } catch (error) {
      // Lost permissions end the stream; on reconnect the client gets the reason. Any other error aborts the stream and
      // is logged.
      if (!(error instanceof DomainError && error.code.startsWith("auth_"))) throw error;
    }
  }

  /** The head of a page, with its versions streamed. */
  private async read(
    actor: Actor,
    query: Static<typeof Query>,
    after: number,
    limit: number,
    format: ChangeFeedInput["format"],
    options: LongReadOptions = {},
  ): Promise<FeedPage> {
    const networkN = query.network_id === undefined ? null : (this.backend.reader.recordN(query.network_id) ?? 0);
    const { types = CHANGE_TYPES } = query;
    const input: ChangeFeedInput = { actor: plainActor(actor), types, networkN, after, limit, format };
    const messages = (await this.backend.longReads.start(changeFeed, input, options))[Symbol.asyncIterator]();
    const first = await messages.next();
    if (first.done === true) throw new Error("change feed: the head is missing");
    return {
      head: JSON.parse(decoder.decode(first.value)) as ChangeFeedHead,
      chunks: { [Symbol.asyncIterator]: () => messages },
    };
  }

  /** Rejects a position from the ledger that the current one was restored from: later transactions differ. */
  private assertPosition({ after, mark }: FeedPosition, path: string, markPath: string): void {
    const { sequence } = this.backend.reader.head();
    const replaced = "the data has since been replaced";
    if (after > sequence)
      throw invalid([{ path, message: `is beyond the last transaction, ${sequence}: ${replaced}`, value: after }]);
    if (mark !== undefined && mark !== this.backend.reader.hashPrefixOf(after))
      throw invalid([
        { path: markPath, message: `is not the mark of the transaction ${after}: ${replaced}`, value: mark },
      ]);
  }
}

/** Ends a read that is no longer needed. */
async function closeChunks(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  await chunks[Symbol.asyncIterator]().return?.();
}

interface FeedPosition {
  readonly after: number;
  readonly mark: string | undefined;
}

const EVENT_ID_MESSAGE = "must be the id of an event of this stream, or the sequence of a transaction";

function lastEventId(request: Request): FeedPosition | null {
  const id = request.headers.get("last-event-id");
  if (id === null || id === "") return null;
  const [, after, mark] = /^(\d{1,10})(?:-([0-9a-f]{8}))?$/.exec(id) ?? [];
  if (after === undefined)
    throw invalid([{ path: "/Last-Event-ID", message: EVENT_ID_MESSAGE, value: id.slice(0, 100) }]);
  return { after: Number(after), mark };
}

function thinnedEvent(until: number): Uint8Array {
  return utf8(`event: thinned\ndata: {"thinned_until":${until}}\n\n`);
}

const decoder = new TextDecoder();
const HEARTBEAT = utf8(": still here\n\n");
