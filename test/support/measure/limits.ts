// Wall-clock limits of the tests. A limit only detects a hang: at least ten times the duration on an idle machine, and
// at least a minute. Speed is asserted in CPU time (processor-time.ts).

/** Limit of one wait: for a response, a line of a log, the exit of a command, an element of a page. */
export const HANG_MS = 120_000;

/** Limit of the longest wait: for a demo that generates its month of data. */
export const LONG_HANG_MS = 300_000;

/** Limit of a test or a hook. Longer than a wait, so that the wait fails first and names the missing event. */
export const TEST_HANG_MS = 600_000;

/** Limit of a walk over all pages. */
export const LONG_TEST_HANG_MS = 1_800_000;

/** Limit of a part of `scripts/prove` in a separate process, in its long form, or the check of a recipe. */
export const PROOF_HANG_MS = 3_600_000;
