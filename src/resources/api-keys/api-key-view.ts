// API-key views with the networks in force, computed from the key and its user as of the same timestamp.

import type { Actor } from "../../access/actor.ts";
import { reachesEveryNetwork } from "../../access/role.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { type ComposeFor, variesByCaller } from "../compose.ts";
import { networkKind } from "../networks/network.ts";
import { type UserRecord, userKind } from "../users/user.ts";
import { type ApiKeyRecord, networksInForce } from "./api-key.ts";

/** Adds `network_ids`: the networks in force at the requested timestamp, limited to the caller's present reach. */
export const composeApiKeys: ComposeFor = Object.assign(variesByCaller(composeApiKey), {
  reachFields: { network_ids: networkKind },
});

function composeApiKey(reader: Reader, actor: Actor): Compose {
  const reach = { organizationN: actor.organizationN, networkNs: null };
  const reached = actor.networkNs === null ? null : new Set(reader.recordIds(actor.networkNs));
  // One response may be composed in several steps, all as of the same timestamp.
  let all: readonly string[] | null = null;
  const compose: Compose = (items, asOf) => {
    const keys = items.map((item) => JSON.parse(item.text) as ApiKeyRecord);
    const userIds = [...new Set(keys.map((key) => key.user_id))];
    const users = new Map(
      reader
        .items({ kind: userKind, reach, asOf, ids: userIds, limit: 0, offset: 0 })
        .map((item) => recordOf(item.text)),
    );
    return keys.map((key) => {
      const user = users.get(key.user_id);
      if (user !== undefined && reachesEveryNetwork(user.role)) all ??= networksOf(reader, actor.organizationN, asOf);
      const inForce = user === undefined ? [] : networksInForce(key, user, all ?? []);
      return JSON.stringify({
        ...key,
        network_ids: reached === null ? inForce : inForce.filter((id) => reached.has(id)),
      });
    });
  };
  return compose;
}

/** Response view that includes the plaintext key; used only by the request that created it. */
export function composeWithSecret(plaintext: string): ComposeFor {
  return (reader, actor) => {
    const compose = composeApiKeys(reader, actor);
    return (items, asOf) =>
      compose(items, asOf).map((text) => `{"api_key":${text},"key":${JSON.stringify(plaintext)}}`);
  };
}

function recordOf(text: string): [string, UserRecord] {
  const user = JSON.parse(text) as UserRecord;
  return [user.id, user];
}

/** All networks of the organization at that timestamp. */
function networksOf(reader: Reader, organizationN: number, asOf: AsOf | null): string[] {
  const networks = reader.items({
    kind: networkKind,
    reach: { organizationN, networkNs: null },
    asOf,
    limit: 0,
    offset: 0,
  });
  return reader.recordIds(networks.map((network) => network.n));
}
