// Waiting for time to pass, so that tests can let it pass. Nothing else sets timers for what a caller waits for.

export interface Timers {
  /** Runs an action once, so many milliseconds from now. @returns what calls it off */
  after(ms: number, action: () => void): () => void;
}

export const systemTimers: Timers = {
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
