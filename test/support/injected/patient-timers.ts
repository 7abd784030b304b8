// Timers for what waits for an agent of this process. Where the machine is busy, the process gets its turn late: the
// time is up while the answer is on its way within the process. A timeout here first lets all that has arrived be handled.

import { systemTimers, type Timers } from "../../../src/base/timers.ts";

/** Turns of the event loop: an exchange takes a few, and the repetition of a question as many again. */
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
