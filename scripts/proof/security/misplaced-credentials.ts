// API key and session token in headers that are stored with a request, by a client's mistake. The calling chapter
// searches the store for them.

import type { Finding } from "../part.ts";
import { headerOf, memberOf, type RawAnswer } from "./raw-client.ts";

type Header = readonly [name: string, value: string];
type Ask = (method: string, path: string, body: unknown, headers: readonly Header[]) => Promise<RawAnswer>;

/** @param ask keeps the answers for the search */
export async function misplacedCredentials(ask: Ask, owner: Header, credentials: readonly string[]): Promise<Finding> {
  const wrong: string[] = [];
  let asked = 0;
  const tag = (more: readonly Header[]) => {
    asked += 1;
    return ask("POST", "/api/v1/tags", { name: `misplaced ${asked}`, color: "Red" }, [owner, ...more]);
  };
  for (const credential of credentials) {
    for (const value of [credential, `id:${credential}`, credential.replace("_", "%5F")]) {
      for (const name of ["Idempotency-Key", "X-Change-Reason"]) {
        const { status, text } = await tag([[name, name === "X-Change-Reason" ? `UTF-8''${value}` : value]]);
        if (status !== 400) wrong.push(`${name} was answered ${status}: ${text.slice(0, 80)}`);
      }
      const named = await tag([
        ["X-Request-Id", value],
        ["User-Agent", value],
      ]);
      if (memberOf(named, "success") !== true) wrong.push(`X-Request-Id was answered ${named.status}`);
      if ((headerOf(named, "x-request-id") ?? "").includes(credential.slice(4, 30)))
        wrong.push("X-Request-Id was kept");
    }
  }
  return {
    claim:
      "an API key or a session token sent as Idempotency-Key or X-Change-Reason is refused with 400, and ignored as X-Request-Id",
    held: wrong.length === 0,
    figure: `${asked} writes${wrong.length === 0 ? "" : `; ${wrong.slice(0, 5).join("; ")}`}`,
  };
}
