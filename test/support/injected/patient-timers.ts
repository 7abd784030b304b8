// Timers for waits on an agent in this process. On a busy machine a timeout may expire while the reply is already
// queued in the process, so a timeout here first processes all input that has arrived.

import { systemTimers, type Timers } from "../../../src/base/timers.ts";

/** Iterations of the event loop: an exchange takes a few, and a retransmission as many again. */
const ITERATIONS = 20;

export const patientTimers: Timers = {
  after(ms, action) {
    let isCancelled = false;
    const wait = (iterations: number): void => {
      if (isCancelled) return;
      if (iterations === 0) action();
      else setImmediate(wait, iterations - 1);
    };
    const cancel = systemTimers.after(ms, () => wait(ITERATIONS));
    return () => {
      isCancelled = true;
      cancel();
    };
  },
};
