// User views, with network ids limited to those the caller can access.

import type { Actor } from "../../access/actor.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { type ComposeFor, variesByCaller } from "../compose.ts";
import { networkKind } from "../networks/network.ts";
import type { UserRecord } from "./user.ts";

/** Limits `network_ids` to the caller's present reach, even in responses about the past. */
export const composeUsers: ComposeFor = Object.assign(variesByCaller(composeUser), {
  reachFields: { network_ids: networkKind },
});

function composeUser(reader: Reader, actor: Actor): Compose {
  if (actor.networkNs === null) return (items) => items.map((item) => item.text);
  const reachable = new Set(reader.recordIds(actor.networkNs));
  return (items) =>
    items.map((item) => {
      const user = JSON.parse(item.text) as UserRecord;
      return JSON.stringify({ ...user, network_ids: user.network_ids.filter((id) => reachable.has(id)) });
    });
}
