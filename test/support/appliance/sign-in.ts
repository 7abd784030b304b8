// Helpers for tests of sign-ins: a user's password, the cookie of an answer.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { PASSWORD_HASH, type UnclaimedAppliance } from "./appliance.ts";
import type { Answer, Client } from "./client.ts";

/** Gives a user the default test password, without the cost of hashing it. Ends the user's sessions. */
export async function givePassword(appliance: UnclaimedAppliance, userId: string): Promise<void> {
  await appliance.writes.run(
    "user.set_password",
    { id: userId, passwordHash: PASSWORD_HASH, keeps: null },
    SYSTEM_AUTHOR,
  );
}

interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** As sent, with names in lower case; "" for an attribute without a value. */
  readonly attributes: Record<string, string>;
}

/** The only cookie set by an answer. @throws Error for none or several */
export function cookieOf(answer: Pick<Answer, "headers">): SetCookie {
  const [only, ...others] = answer.headers.getSetCookie();
  if (only === undefined || others.length > 0)
    throw new Error(`expected one cookie, not ${answer.headers.getSetCookie().length}`);
  const [pair = "", ...attributes] = only.split(";").map((part) => part.trim());
  const [name, value] = split(pair);
  return {
    name,
    value,
    attributes: Object.fromEntries(attributes.map(split).map(([key, each]) => [key.toLowerCase(), each])),
  };
}

/** Client with the session of an answer. */
export function clientOf(appliance: UnclaimedAppliance, answer: Answer): Client {
  return appliance.anonymous.with({ cookie: `session_id=${cookieOf(answer).value}` });
}

function split(text: string): [string, string] {
  const equals = text.indexOf("=");
  return equals < 0 ? [text, ""] : [text.slice(0, equals), text.slice(equals + 1)];
}
