// Conditional save of the version shown. After a concurrent change, nothing is written and the user is notified; saving
// again deliberately overwrites the change.

import { asRefusal, fetchResponse } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";

interface ConditionalSave {
  /** @param write is called with the entity tag of the version to replace @throws Refusal */
  save<T>(write: (tag: string) => Promise<T>): Promise<T>;
}

/** @param id null for a new record, which has no entity tag yet */
export function conditionalSave(
  path: "/api/v1/auth/keys/{id}" | "/api/v1/credentials/{id}" | "/api/v1/users/{id}" | "/api/v1/organizations",
  id: string | null,
): ConditionalSave {
  const fetchTag = async () => {
    const response = await fetchResponse(path.replace("{id}", id ?? ""), { method: "HEAD" });
    const tag = response.headers.get("etag");
    if (!response.ok || tag === null) throw refusalOf(response, undefined);
    return tag;
  };
  let tag: Promise<string> | null = id === null ? null : fetchTag();
  // The error is reported on save.
  tag?.catch(() => undefined);
  return {
    save: async (write) => {
      tag ??= fetchTag();
      const knownTag = await tag.catch((cause: unknown) => {
        tag = null;
        throw cause;
      });
      try {
        return await write(knownTag);
      } catch (cause) {
        const refusal = asRefusal(cause);
        // Other errors keep the tag: a concurrent change must still be reported first.
        if (refusal.status !== 412) throw refusal;
        tag = null;
        const message = "Others have changed this record in the meantime. Saving again overwrites their changes.";
        throw new Refusal({ ...refusal, issues: [], message });
      }
    },
  };
}
