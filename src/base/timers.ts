// Waiting for time to pass, so that tests can let it pass. Nothing else sets timers for what a caller waits for.

export interface Timers {
  /** Runs an action once, so many milliseconds from now. @returns what calls it off */
  after(ms: number, action: () => void): () => void;
}

/** Lets a thread that has nothing else to do stand still for so many milliseconds. */
export function pauseThread(ms: number): void {
  Bun.sleepSync(ms);
}

export const systemTimers: Timers = {
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
