// Typed threads, with message types for both directions. Starts a thread only if file descriptors are available: Bun
// terminates the process if a new thread cannot get one.

import { closeSync, openSync } from "node:fs";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { DomainError } from "./errors.ts";

/** Messages between a thread and its starter: copied, except for shared or transferred memory. */
export interface Messages {
  readonly to: unknown;
  readonly from: unknown;
}

/** A thread as seen by its starter. */
export interface Thread<M extends Messages> {
  /** @param transfer buffers in the message to transfer; the sender must not use them afterwards */
  post(message: M["to"], transfer?: ArrayBuffer[]): void;
  /** Ends the thread immediately; no more messages arrive. */
  terminate(): void;
}

/**
 * @param ended called at most once, with the reason, if the thread ends without terminate()
 * @throws DomainError rate_limit_exceeded if connections use up the descriptors of the process
 */
export type StartThread<M extends Messages> = (
  onMessage: (message: M["from"]) => void,
  onEnd: (reason: string) => void,
) => Thread<M>;

/**
 * Main function of a thread: gets a function to post to its starter, and returns the message handler. `nextMessage`
 * returns a message received while the thread was busy and not handled yet; null for none.
 */
export type ThreadMain<M extends Messages> = (
  post: (message: M["from"]) => void,
  nextMessage: () => { readonly message: M["to"] } | null,
) => (message: M["to"]) => void;

/** A starting thread opens a tenth of this; the rest is for connections accepted at the same moment. */
export const DESCRIPTORS_PER_START = 96;

/**
 * A thread whose file calls `runThread` with the same messages.
 * @param create creates the Worker
 * @param open opens a file to test for free descriptors; tests may let it fail
 */
export function threadOf<M extends Messages>(
  create: () => Worker,
  open: () => number = () => openSync("/dev/null", "r"),
): StartThread<M> {
  return (onMessage, onEnd) => {
    assertDescriptorsAvailable(open);
    const worker = create();
    let isOver = false;
    const end = (reason: string) => {
      if (!isOver) onEnd(reason);
      isOver = true;
    };
    worker.onmessage = ({ data }: MessageEvent<M["from"]>) => {
      if (!isOver) onMessage(data);
    };
    worker.onerror = ({ message }) => end(message);
    worker.addEventListener("close", () => end("the thread ended"));
    // A busy thread can poll its own port, but not the messages posted to a Worker.
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(port2, [port2 as never]);
    return {
      post: (message, transfer = []) => port1.postMessage(message, transfer),
      terminate: () => {
        isOver = true;
        port1.close();
        worker.terminate();
      },
    };
  };
}

/** The entire entry file of a thread. */
export function runThread<M extends Messages>(main: ThreadMain<M>): void {
  if (Bun.isMainThread) return;
  const starter = globalThis as unknown as {
    postMessage(message: M["from"]): void;
    onmessage: (event: MessageEvent<MessagePort>) => void;
  };
  starter.onmessage = ({ data: port }) => {
    const receive = main(
      (message) => starter.postMessage(message),
      () => receiveMessageOnPort(port) ?? null,
    );
    port.on("message", receive);
  };
}

/**
 * Starts a thread for one message.
 * @returns its reply, which rejects if the thread ends without one, and a function to abandon it
 * @throws as `start`
 */
export function callThread<M extends Messages>(
  start: StartThread<M>,
  message: M["to"],
): { readonly reply: Promise<M["from"]>; abandon(): void } {
  const { promise, resolve, reject } = Promise.withResolvers<M["from"]>();
  const thread = start(
    (reply) => {
      resolve(reply);
      thread.terminate();
    },
    (reason) => reject(new Error(reason)),
  );
  thread.post(message);
  const abandon = () => {
    thread.terminate();
    reject(new Error("the thread was abandoned"));
  };
  return { reply: promise, abandon };
}

function assertDescriptorsAvailable(open: () => number): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS_PER_START) opened.push(open());
  } catch (error) {
    // Other failures say nothing about available descriptors.
    if (!isOutOfDescriptors(error)) return;
    throw Object.assign(
      new DomainError("rate_limit_exceeded", "Too many connections are open; try again in a few seconds.", {
        retry_after_seconds: 5,
      }),
      { cause: error },
    );
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
