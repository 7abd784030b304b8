// Users as a caller sees them: of the networks that they reach, those that the caller reaches too.

import type { Actor } from "../../access/actor.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { type ComposeFor, variesByCaller } from "../compose.ts";
import { networkKind } from "../networks/network.ts";
import type { UserRecord } from "./user.ts";

/** Keeps `network_ids` to the caller's reach of today, also in an answer about the past. */
export const composeUsers: ComposeFor = Object.assign(variesByCaller(composeUser), {
  reachFields: { network_ids: networkKind },
});

function composeUser(reader: Reader, actor: Actor): Compose {
  if (actor.networkNs === null) return (items) => items.map((item) => item.text);
  const reached = new Set(reader.recordIds(actor.networkNs));
  return (items) =>
    items.map((item) => {
      const user = JSON.parse(item.text) as UserRecord;
      return JSON.stringify({ ...user, network_ids: user.network_ids.filter((id) => reached.has(id)) });
    });
}
