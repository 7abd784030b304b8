// Conditional save against the version shown. After a concurrent change, nothing is written and the user is told;
// saving again deliberately overwrites it.

import { asRefusal, fetchAnswer } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";

interface Over {
  /** @param write receives the entity tag of the version to replace @throws Refusal */
  save<T>(write: (tag: string) => Promise<T>): Promise<T>;
}

/** @param id null for a new record, which has no entity tag yet */
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
  // The error is reported on save.
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
        // Other errors keep the tag: a concurrent change must still be reported first.
        if (refusal.status !== 412) throw refusal;
        tag = null;
        const { requestId } = refusal;
        throw new Refusal({
          status: 412,
          code: refusal.code,
          message: "Others changed it meanwhile. Saving again overwrites that with what stands here.",
          requestId,
        });
      }
    },
  };
}
