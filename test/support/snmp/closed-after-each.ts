// Agents and sessions of single tests.

import { afterEach } from "bun:test";

/** Returns a function that passes on what a test opened, and closes it after the test. */
export function closedAfterEach(): <Opened extends { close(): unknown }>(opened: Opened) => Opened {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  return (opened) => {
    open.push(opened);
    return opened;
  };
}
