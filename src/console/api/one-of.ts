// One record, asked for as a list of it alone: that a list has nothing is an answer, while a browser reports a refusal in
// its console, and a page of what is gone would begin with one.

import type { Read } from "./client.ts";
import { Refusal } from "./refusal.ts";

/**
 * @param asked of a list, by one id
 * @returns its record; it is refused as not found where the list is empty
 */
export function oneOf<Data, Meta>({ url, load }: Read<readonly Data[], Meta>): Read<Data, Meta> {
  return {
    url,
    load: async (abort) => {
      const { data, meta } = await load(abort);
      const [record] = data;
      if (record === undefined)
        throw new Refusal({ status: 404, code: "entity_not_found", message: "", requestId: null });
      return { data: record, meta };
    },
  };
}
