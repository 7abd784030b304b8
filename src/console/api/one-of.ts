// Single record, requested as a list, since browsers log the 404 of a deleted record but not an empty list.

import type { Read } from "./client.ts";
import { Refusal } from "./refusal.ts";

/** Converts a list request with one id to a read of its record; an empty list is refused as not found. */
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
