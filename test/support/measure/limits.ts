// Every wall-clock limit of the tests. A limit only detects a hang: at least ten times what the operation takes on an
// idle machine, never below a minute. Speed is asserted in processor time (processor-time.ts).

/** For one wait: an answer, a line of a log, the end of a command, an element of a page. */
export const HANG_MS = 120_000;

/** For the one long wait: a demo that generates its month of data. */
export const LONG_HANG_MS = 300_000;

/** For a test or a hook. Longer than a wait, so that the wait fails first and says what was missing. */
export const TEST_HANG_MS = 600_000;

/** For a walk over all pages. */
export const LONG_TEST_HANG_MS = 1_800_000;

/** For a part of `scripts/prove` that is a process of its own, in its long form. */
export const PROOF_HANG_MS = 3_600_000;
