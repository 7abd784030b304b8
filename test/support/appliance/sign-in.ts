// Helpers for sign-in tests: a user's password, and the cookie of a response.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { PASSWORD_HASH, type UnclaimedAppliance } from "./appliance.ts";
import type { ApiResponse, Client } from "./client.ts";

/** Gives a user the default test password, without the cost of hashing it. Ends the user's sessions. */
export async function givePassword(appliance: UnclaimedAppliance, userId: string): Promise<void> {
  await appliance.writes.run(
    "user.set_password",
    { id: userId, passwordHash: PASSWORD_HASH, keptHash: null },
    SYSTEM_AUTHOR,
  );
}

interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** As sent, with names in lower case; "" for an attribute without a value. */
  readonly attributes: Record<string, string>;
}

/** Returns the only cookie set by a response. @throws Error for none or several */
export function cookieOf(response: Pick<ApiResponse, "headers">): SetCookie {
  const [only, ...others] = response.headers.getSetCookie();
  if (only === undefined || others.length > 0)
    throw new Error(`expected one cookie, not ${response.headers.getSetCookie().length}`);
  const [pair = "", ...attributes] = only.split(";").map((part) => part.trim());
  const [name, value] = split(pair);
  return {
    name,
    value,
    attributes: Object.fromEntries(attributes.map(split).map(([key, text]) => [key.toLowerCase(), text])),
  };
}

/** Client with the session opened by a response. */
export function clientOf(appliance: UnclaimedAppliance, response: ApiResponse): Client {
  return appliance.anonymous.with({ cookie: `session_id=${cookieOf(response).value}` });
}

function split(text: string): [string, string] {
  const equals = text.indexOf("=");
  return equals < 0 ? [text, ""] : [text.slice(0, equals), text.slice(equals + 1)];
}
