// Both ends of a thread: what the two say to each other is declared once, as Messages. A thread is started only where
// there is room for one: Bun ends the whole process when a thread finds no descriptor left.

import { closeSync, openSync } from "node:fs";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { DomainError } from "./errors.ts";

/** What crosses between a thread and whoever starts it: copied, but for memory that is shared or handed over. */
export interface Messages {
  readonly to: unknown;
  readonly from: unknown;
}

/** A thread, as whoever started it has it. */
export interface Thread<M extends Messages> {
  /** @param handedOver buffers in the message that are the sender's no more */
  post(message: M["to"], handedOver?: ArrayBuffer[]): void;
  /** Ends it where it stands; nothing more is heard of it. */
  terminate(): void;
}

/**
 * @param ended told at most once, with the reason, when the thread ends without having been terminated
 * @throws DomainError rate_limit_exceeded where connections have taken all descriptors that the process may have
 */
export type StartThread<M extends Messages> = (
  hear: (message: M["from"]) => void,
  ended: (reason: string) => void,
) => Thread<M>;

/**
 * What a thread does: takes what posts to its starter, returns what hears what it is sent. `arrived` takes what has come
 * while the thread was busy and is not heard yet; null for nothing.
 */
export type ThreadMain<M extends Messages> = (
  post: (message: M["from"]) => void,
  arrived: () => { readonly message: M["to"] } | null,
) => (message: M["to"]) => void;

/** What a thread opens at its start is a tenth of it; the rest is for connections that come in the same moment. */
export const DESCRIPTORS_PER_START = 96;

/**
 * A thread of a file that calls `runThread` with the same messages.
 * @param create makes the Worker
 * @param open stands for opening any file; a test may let it fail
 */
export function threadOf<M extends Messages>(
  create: () => Worker,
  open: () => number = () => openSync("/dev/null", "r"),
): StartThread<M> {
  return (hear, ended) => {
    assertRoom(open);
    const worker = create();
    let isOver = false;
    const end = (reason: string) => {
      if (!isOver) ended(reason);
      isOver = true;
    };
    worker.onmessage = ({ data }: MessageEvent<M["from"]>) => {
      if (!isOver) hear(data);
    };
    worker.onerror = ({ message }) => end(message);
    worker.addEventListener("close", () => end("the thread ended"));
    // A thread can look into a port of its own while it is busy, which it can't into what a Worker is posted.
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(port2, [port2 as never]);
    return {
      post: (message, handedOver = []) => port1.postMessage(message, handedOver),
      terminate: () => {
        isOver = true;
        port1.close();
        worker.terminate();
      },
    };
  };
}

/** The whole of a thread's entry file. */
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
 * Has a thread of its own answer one message.
 * @returns its answer, which rejects when the thread ends without one, and what gives it up
 * @throws as `start`
 */
export function askThread<M extends Messages>(
  start: StartThread<M>,
  message: M["to"],
): { readonly answer: Promise<M["from"]>; abandon(): void } {
  const { promise, resolve, reject } = Promise.withResolvers<M["from"]>();
  const thread = start(
    (answer) => {
      resolve(answer);
      thread.terminate();
    },
    (reason) => reject(new Error(reason)),
  );
  thread.post(message);
  const abandon = () => {
    thread.terminate();
    reject(new Error("the thread was given up"));
  };
  return { answer: promise, abandon };
}

function assertRoom(open: () => number): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS_PER_START) opened.push(open());
  } catch (error) {
    // Where it fails for another reason, nothing is known of the room.
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
