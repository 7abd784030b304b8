// Live changes from the change feed. One connection for all tabs of a browser: Web Locks elect the tab that holds it,
// which broadcasts to the others. Without them (plain HTTP on a LAN), each visible tab connects by itself.

import { signal } from "@preact/signals";
import { isAborted, isReachable, read, sessionEnded } from "./client.ts";
import type { LiveChange } from "./concern.ts";
import { EventReader, type StreamEvent } from "./event-stream.ts";

/** State of the feed: `waiting` to reconnect. */
export const liveState = signal<"off" | "following" | "waiting">("off");

/** @param changes null if the missed changes are unknown because the data were replaced */
type Listener = (changes: readonly LiveChange[] | null) => void;

const listeners = new Set<Listener>();

/** Receives every change while a user is signed in. @returns a function that unsubscribes */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Resume position in the feed: a transaction and the beginning of its hash. */
interface Place {
  readonly after: string;
  readonly mark: string;
}

/** Messages between tabs. */
type Told =
  | { readonly type: "hello" }
  | { readonly type: "state"; readonly state: "following" | "waiting"; readonly place: Place | null }
  | { readonly type: "changes"; readonly changes: readonly LiveChange[] | null; readonly place: Place | null };

const NAME = "netledger:live";
const MARK_LENGTH = 8;
/** The feed sends a message every 15 seconds. */
const SILENCE_MAX_MS = 45_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 30_000;

/** Follows the feed until stopped. @returns a function that stops it */
export function startLive(): () => void {
  const following = new Following();
  return () => following.end();
}

class Following {
  private readonly over = new AbortController();
  private readonly channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
  private place: Place | null = null;
  private isHolder = false;

  constructor() {
    const locks = (navigator as { readonly locks?: LockManager }).locks;
    if (locks === undefined) {
      document.addEventListener("visibilitychange", () => this.followWhileSeen(), { signal: this.over.signal });
      this.followWhileSeen();
      return;
    }
    this.channel?.addEventListener("message", ({ data }: MessageEvent<Told>) => this.hear(data));
    this.tell({ type: "hello" });
    locks
      .request(NAME, { signal: this.over.signal }, () => this.hold())
      // Aborted before the lock was granted.
      .catch(() => undefined);
  }

  end(): void {
    this.over.abort();
    this.channel?.close();
    liveState.value = "off";
  }

  private hear(told: Told): void {
    if (told.type === "hello") {
      if (this.isHolder && liveState.peek() !== "off") this.tellState();
      return;
    }
    this.place = told.place;
    if (told.type === "state") liveState.value = told.state;
    else for (const listener of [...listeners]) listener(told.changes);
  }

  private tell(told: Told): void {
    if (!this.over.signal.aborted) this.channel?.postMessage(told);
  }

  private tellState(): void {
    const state = liveState.peek();
    if (state !== "off") this.tell({ type: "state", state, place: this.place });
  }

  private async hold(): Promise<void> {
    this.isHolder = true;
    await this.follow(this.over.signal);
    this.isHolder = false;
  }

  private seen: AbortController | null = null;

  private followWhileSeen(): void {
    if (document.visibilityState === "visible") {
      if (this.seen !== null) return;
      this.seen = new AbortController();
      void this.follow(AbortSignal.any([this.over.signal, this.seen.signal]));
    } else {
      this.seen?.abort();
      this.seen = null;
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
      this.say("waiting");
      await pause(Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** failures), signal);
      failures += 1;
    }
  }

  private async connect(signal: AbortSignal, connected: () => void): Promise<void> {
    this.place ??= await newestPlace(signal);
    const silence = new AbortController();
    const either = AbortSignal.any([signal, silence.signal]);
    const { after, mark } = this.place;
    const response = await fetch(`/api/v1/changes?after=${after}&mark=${mark}`, {
      headers: { accept: "text/event-stream" },
      signal: either,
    }).catch((cause: unknown) => {
      if (!isAborted(cause)) isReachable.value = false;
      throw cause;
    });
    isReachable.value = true;
    if (response.status === 401) sessionEnded.value = true;
    // The ledger was replaced, so any record may differ.
    if (response.status === 400) {
      this.place = null;
      this.pass(null);
    }
    if (!response.ok || response.body === null) return;
    connected();
    this.say("following");
    await this.take(response.body, silence);
  }

  private async take(body: ReadableStream<Uint8Array>, silence: AbortController): Promise<void> {
    const events = new EventReader();
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const told = events.read(value).filter(({ type }) => type === "change");
      if (told.length === 0) continue;
      const last = told.findLast(({ id }) => id !== null)?.id?.split("-");
      if (last !== undefined) this.place = { after: last[0] ?? "", mark: last[1] ?? "" };
      this.pass(told.map(changeOf));
    }
  }

  private say(state: "following" | "waiting"): void {
    liveState.value = state;
    this.tellState();
  }

  private pass(changes: readonly LiveChange[] | null): void {
    this.tell({ type: "changes", changes, place: this.place });
    for (const listener of [...listeners]) listener(changes);
  }
}

async function newestPlace(signal: AbortSignal): Promise<Place> {
  const { data } = await read("/api/v1/ledger").load(signal);
  return { after: String(data.sequence), mark: data.hash?.slice(0, MARK_LENGTH) ?? "" };
}

/** Metadata of a change event, without the record. */
function changeOf({ data }: StreamEvent): LiveChange {
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

function pause(forMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, forMs);
    signal.addEventListener("abort", end);
  });
}
