// API keys and session tokens sent by mistake in headers that are stored with the request. The caller searches the
// store for them.

import type { Finding } from "../part.ts";
import { type Header, headerOf, jsonField } from "./raw-client.ts";
import type { Caller } from "./testbed.ts";

export async function misplacedCredentials(owner: Caller, credentials: readonly string[]): Promise<Finding> {
  const wrong: string[] = [];
  let writes = 0;
  const tag = (...extra: Header[]) => {
    writes += 1;
    return owner.post("tags", { name: `misplaced ${writes}`, color: "Red" }, ...extra);
  };
  for (const credential of credentials) {
    for (const value of [credential, `id:${credential}`, credential.replace("_", "%5F")]) {
      for (const name of ["Idempotency-Key", "X-Change-Reason"]) {
        const { status, text } = await tag([name, name === "X-Change-Reason" ? `UTF-8''${value}` : value]);
        if (status !== 400) wrong.push(`${name} returned ${status}: ${text.slice(0, 80)}`);
      }
      const response = await tag(["X-Request-Id", value], ["User-Agent", value]);
      if (jsonField(response, "success") !== true) wrong.push(`X-Request-Id returned ${response.status}`);
      if ((headerOf(response, "x-request-id") ?? "").includes(credential.slice(4, 30)))
        wrong.push("X-Request-Id was stored");
    }
  }
  return {
    claim:
      "an API key or a session token sent as Idempotency-Key or X-Change-Reason is refused with 400, and ignored as X-Request-Id",
    held: wrong.length === 0,
    figure: `${writes} writes${wrong.length === 0 ? "" : `; ${wrong.slice(0, 5).join("; ")}`}`,
  };
}
