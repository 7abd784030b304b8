// Fake thread that runs on the calling thread. Copies and queues messages like a real one.

import type { Messages, StartThread, ThreadMain } from "../../../src/base/thread.ts";

export interface DirectThread<M extends Messages> {
  readonly start: StartThread<M>;
  /** Fails the running thread, as an uncaught error would. */
  crash(reason: string): void;
  /** Number of threads started. */
  readonly started: number;
  /** Whether the last thread was terminated. */
  readonly isTerminated: boolean;
}

export function directThread<M extends Messages>(main: ThreadMain<M>): DirectThread<M> {
  let crashNow = (_reason: string) => {};
  let started = 0;
  let isTerminated = false;
  return {
    start: (onMessage, onEnd) => {
      started += 1;
      isTerminated = false;
      let hasEnded = false;
      const deliverLater = <T>(message: T, receiveCopy: (copy: T) => void) => {
        const copy = structuredClone(message);
        setImmediate(() => {
          if (!hasEnded) receiveCopy(copy);
        });
      };
      const receive = main(
        (message) => deliverLater(message, onMessage),
        () => null,
      );
      crashNow = (reason) => {
        hasEnded = true;
        onEnd(reason);
      };
      return {
        post: (message) => deliverLater(message, receive),
        terminate: () => {
          hasEnded = true;
          isTerminated = true;
        },
      };
    },
    crash: (reason) => crashNow(reason),
    get started() {
      return started;
    },
    get isTerminated() {
      return isTerminated;
    },
  };
}
