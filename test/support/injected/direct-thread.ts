// Thread on the starting thread: messages are copied and ordered as between threads.

import type { Messages, StartThread, ThreadMain } from "../../../src/base/thread.ts";

export interface DirectThread<M extends Messages> {
  readonly start: StartThread<M>;
  /** Fails the running thread, as an uncaught error would. */
  crash(reason: string): void;
  /** Number of threads started. */
  readonly started: number;
  /** Whether the last one was. */
  readonly isTerminated: boolean;
}

export function directThread<M extends Messages>(main: ThreadMain<M>): DirectThread<M> {
  let crashNow = (_reason: string) => {};
  let started = 0;
  let isTerminated = false;
  return {
    start: (hear, ended) => {
      started += 1;
      isTerminated = false;
      let isOver = false;
      const later = <T>(message: T, take: (copy: T) => void) => {
        const copy = structuredClone(message);
        setImmediate(() => {
          if (!isOver) take(copy);
        });
      };
      const receive = main(
        (message) => later(message, hear),
        () => null,
      );
      crashNow = (reason) => {
        isOver = true;
        ended(reason);
      };
      return {
        post: (message) => later(message, receive),
        terminate: () => {
          isOver = true;
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
