// Timers, replaceable in tests. Every wait that affects a caller uses them.

export interface Timers {
  /** Runs an action once after a delay in milliseconds. @returns a function that cancels it */
  after(ms: number, action: () => void): () => void;
}

/** Blocks a thread without other work for some milliseconds. */
export function pauseThread(ms: number): void {
  Bun.sleepSync(ms);
}

export const systemTimers: Timers = {
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
