// Timers for waits on an agent in this process. On a busy machine a timeout may expire while the answer is already
// queued in the process; a timeout here first lets all arrived input be handled.

import { systemTimers, type Timers } from "../../../src/base/timers.ts";

/** Turns of the event loop: an exchange takes a few, and a retransmission as many again. */
const TURNS = 20;

export const patientTimers: Timers = {
  after(ms, action) {
    let isCancelled = false;
    const wait = (turns: number): void => {
      if (isCancelled) return;
      if (turns === 0) action();
      else setImmediate(wait, turns - 1);
    };
    const cancel = systemTimers.after(ms, () => wait(TURNS));
    return () => {
      isCancelled = true;
      cancel();
    };
  },
};
