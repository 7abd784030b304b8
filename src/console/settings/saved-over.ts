// Saving over the version that one has seen. Where others changed it meanwhile nothing is written: it is said, and saving
// once more is over theirs, knowingly.

import { asRefusal, fetchAnswer } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { rightsText } from "../text/rights.ts";

interface Over {
  /** @param write with the tag that its version must have @throws Refusal */
  save<T>(write: (tag: string) => Promise<T>): Promise<T>;
}

/** @param id null where there is none yet: nothing is read then */
export function savedOver(
  path: "/api/v1/auth/keys/{id}" | "/api/v1/credentials/{id}" | "/api/v1/users/{id}" | "/api/v1/organizations",
  id: string | null,
): Over {
  const tagNow = async () => {
    const response = await fetchAnswer(path.replace("{id}", id ?? ""), { method: "HEAD" });
    const tag = response.headers.get("etag");
    if (!response.ok || tag === null) throw refusalOf(response, undefined);
    return tag;
  };
  let tag: Promise<string> | null = id === null ? null : tagNow();
  // Told when it is saved.
  tag?.catch(() => undefined);
  return {
    save: async (write) => {
      tag ??= tagNow();
      const known = await tag.catch((cause: unknown) => {
        tag = null;
        throw cause;
      });
      try {
        return await write(known);
      } catch (cause) {
        const refusal = asRefusal(cause);
        // Refused for anything else, what others have written is still to be seen first.
        if (refusal.status !== 412) throw refusal;
        tag = null;
        const { requestId } = refusal;
        throw new Refusal({ status: 412, code: refusal.code, message: rightsText.changedMeanwhile, requestId });
      }
    },
  };
}
