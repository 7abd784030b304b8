// The scanning thread on the thread that asks for it: messages cross as they do between threads, copied and in order, without one.

import {
  serveScans,
  type FromScanner,
  type ScanMachine,
  type StartScanThread,
  type ToScanner,
} from "../../src/discovery/scans/scan-thread.ts";

export interface DirectScanThread {
  readonly start: StartScanThread;
  /** Breaks the thread that runs, as an error that nobody caught would. */
  crash(reason: string): void;
  /** How many were started. */
  readonly started: number;
}

export function directScanThread(open: (options: unknown) => ScanMachine): DirectScanThread {
  let crashNow = (_reason: string) => {};
  let started = 0;
  return {
    start: (receive, crashed) => {
      started += 1;
      let isOver = false;
      const handle = serveScans(open, {
        postMessage: (message: FromScanner) => {
          const copy = structuredClone(message);
          setImmediate(() => {
            if (!isOver) receive(copy);
          });
        },
      });
      crashNow = (reason) => {
        isOver = true;
        crashed(reason);
      };
      return {
        post: (message: ToScanner) => {
          const copy = structuredClone(message);
          setImmediate(() => {
            if (!isOver) handle(copy);
          });
        },
        terminate: () => {
          isOver = true;
        },
      };
    },
    crash: (reason) => crashNow(reason),
    get started() {
      return started;
    },
  };
}
