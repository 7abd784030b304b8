// Live changes from the change feed, over one connection per browser. Without Web Locks, each visible tab connects.

import { signal } from "@preact/signals";
import type { LiveChange } from "./change-filter.ts";
import { isAborted, isReachable, read, sessionEnded } from "./client.ts";
import { EventReader, type StreamEvent } from "./event-stream.ts";

/** State of the feed; `waiting` means that it will reconnect. */
export const liveState = signal<"off" | "following" | "waiting">("off");

/** @param changes null if the missed changes are unknown because the data was replaced */
type Listener = (changes: readonly LiveChange[] | null) => void;

const listeners = new Set<Listener>();

/** Calls the listener with every change while a user is signed in. @returns a function that unsubscribes */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Resume position in the feed: a transaction and the beginning of its hash. */
interface FeedPosition {
  readonly after: string;
  readonly mark: string;
}

/** Messages between tabs. */
type TabMessage =
  | { readonly type: "hello" }
  | { readonly type: "changes"; readonly changes: readonly LiveChange[] | null; readonly position: FeedPosition | null }
  | { readonly type: "state"; readonly state: "following" | "waiting"; readonly position: FeedPosition | null };

const NAME = "netledger:live";
const MARK_LENGTH = 8;
/** The feed sends a message every 15 seconds. */
const SILENCE_MAX_MS = 45_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 30_000;

/** Follows the feed until stopped. @returns a function that stops it */
export function startLive(): () => void {
  const follower = new FeedFollower();
  return () => follower.end();
}

class FeedFollower {
  private readonly stopping = new AbortController();
  private readonly channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
  private position: FeedPosition | null = null;
  private isLeader = false;

  constructor() {
    const locks = (navigator as { readonly locks?: LockManager }).locks;
    if (locks === undefined) {
      document.addEventListener("visibilitychange", () => this.followWhileVisible(), { signal: this.stopping.signal });
      this.followWhileVisible();
      return;
    }
    this.channel?.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => this.onMessage(data));
    this.broadcast({ type: "hello" });
    locks
      .request(NAME, { signal: this.stopping.signal }, () => this.lead())
      // The request was aborted before the lock was granted.
      .catch(() => undefined);
  }

  end(): void {
    this.stopping.abort();
    this.channel?.close();
    liveState.value = "off";
  }

  private onMessage(payload: TabMessage): void {
    if (payload.type === "hello") {
      if (this.isLeader && liveState.peek() !== "off") this.broadcastState();
      return;
    }
    this.position = payload.position;
    if (payload.type === "state") liveState.value = payload.state;
    else for (const listener of [...listeners]) listener(payload.changes);
  }

  private broadcast(payload: TabMessage): void {
    if (!this.stopping.signal.aborted) this.channel?.postMessage(payload);
  }

  private broadcastState(): void {
    const state = liveState.peek();
    if (state !== "off") this.broadcast({ type: "state", state, position: this.position });
  }

  private async lead(): Promise<void> {
    this.isLeader = true;
    await this.follow(this.stopping.signal);
    this.isLeader = false;
  }

  private visibleAbort: AbortController | null = null;

  private followWhileVisible(): void {
    if (document.visibilityState === "visible") {
      if (this.visibleAbort !== null) return;
      this.visibleAbort = new AbortController();
      void this.follow(AbortSignal.any([this.stopping.signal, this.visibleAbort.signal]));
    } else {
      this.visibleAbort?.abort();
      this.visibleAbort = null;
    }
  }

  /** Connects repeatedly, each time from the last position, until the signal or the session ends. */
  private async follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted && !sessionEnded.peek()) {
      try {
        await this.connect(signal, () => (failures = 0));
      } catch (cause) {
        // Retry regardless of the cause: either the appliance logged it, or it is down.
        if (isAborted(cause) && signal.aborted) return;
      }
      if (signal.aborted || sessionEnded.peek()) return;
      this.setState("waiting");
      await pause(Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** failures), signal);
      failures += 1;
    }
  }

  private async connect(signal: AbortSignal, connected: () => void): Promise<void> {
    this.position ??= await latestPosition(signal);
    const silence = new AbortController();
    const anyAbort = AbortSignal.any([signal, silence.signal]);
    const { after, mark } = this.position;
    const response = await fetch(`/api/v1/changes?after=${after}&mark=${mark}`, {
      headers: { accept: "text/event-stream" },
      signal: anyAbort,
    }).catch((cause: unknown) => {
      if (!isAborted(cause)) isReachable.value = false;
      throw cause;
    });
    isReachable.value = true;
    if (response.status === 401) sessionEnded.value = true;
    // The ledger was replaced, so any record may differ.
    if (response.status === 400) {
      this.position = null;
      this.publish(null);
    }
    if (!response.ok || response.body === null) return;
    connected();
    this.setState("following");
    await this.readEvents(response.body, silence);
  }

  private async readEvents(body: ReadableStream<Uint8Array>, silence: AbortController): Promise<void> {
    const events = new EventReader();
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const payload = events.read(value).filter(({ type }) => type === "change");
      if (payload.length === 0) continue;
      const last = payload.findLast(({ id }) => id !== null)?.id?.split("-");
      if (last !== undefined) this.position = { after: last[0] ?? "", mark: last[1] ?? "" };
      this.publish(payload.map(toChange));
    }
  }

  private setState(state: "following" | "waiting"): void {
    liveState.value = state;
    this.broadcastState();
  }

  private publish(changes: readonly LiveChange[] | null): void {
    this.broadcast({ type: "changes", changes, position: this.position });
    for (const listener of [...listeners]) listener(changes);
  }
}

async function latestPosition(signal: AbortSignal): Promise<FeedPosition> {
  const { data } = await read("/api/v1/ledger").load(signal);
  return { after: String(data.sequence), mark: data.hash?.slice(0, MARK_LENGTH) ?? "" };
}

/** Metadata of a change event, without the record. */
function toChange({ data }: StreamEvent): LiveChange {
  const { entity_type, operation, transaction, record } = JSON.parse(data) as {
    readonly entity_type: string;
    readonly operation: LiveChange["operation"];
    readonly transaction: { readonly sequence: number; readonly at: string };
    readonly record: { readonly id: string; readonly host_id?: string; readonly network_id?: string | null };
  };
  return {
    sequence: transaction.sequence,
    atMs: Date.parse(transaction.at),
    type: entity_type,
    operation,
    id: record.id,
    hostId: entity_type === "host" ? record.id : (record.host_id ?? null),
    networkId: entity_type === "network" ? record.id : (record.network_id ?? null),
  };
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    signal.addEventListener("abort", end);
  });
}
