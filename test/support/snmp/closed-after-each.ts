// Closes agents and sessions after each test.

import { afterEach } from "bun:test";
import type { SnmpSession } from "../../../src/discovery/snmp/session.ts";
import { neverAborted, sessionTo } from "./sessions.ts";

/** Returns a function that registers a resource to be closed after the test, and returns it. */
export function closeAfterEach(): <Opened extends { close(): unknown }>(opened: Opened) => Opened {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const resource of open.splice(0)) await resource.close();
  });
  return (opened) => {
    open.push(opened);
    return opened;
  };
}

/** sysName.0 */
export const NAME = "1.3.6.1.2.1.1.5.0";
export const getName = { kind: "Get", oids: [NAME] } as const;

/** Sessions closed after each test, and reads of sysName in a new one. */
export function sessionsForEach() {
  const closeAfterTest = closeAfterEach();
  const session = async (...args: Parameters<typeof sessionTo>): Promise<SnmpSession> =>
    closeAfterTest(await sessionTo(...args));
  const nameAt = async (...args: Parameters<typeof sessionTo>) =>
    (await session(...args)).request(getName, neverAborted);
  return { closeAfterTest, session, nameAt };
}

/** A response with only this sysName. */
export const named = (name: string) => ({ varbinds: [{ value: Buffer.from(name) }] });
