// Change query narrowing: parameters, their record numbers for a caller, and the resulting query. A record never
// visible to the caller has no number.

import { Type } from "@sinclair/typebox";
import type { Actor } from "../access/actor.ts";
import { defined } from "../base/fields.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import type { CountedQuery } from "../db/reading/counted-changes.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../resources/ip-ranges/ip-range.ts";
import { networkKind } from "../resources/networks/network.ts";
import { subnetKind } from "../resources/subnets/subnet.ts";
import { OneOf, QueryList, Uuid } from "../schemas/schemas.ts";
import { CHANGE_KINDS, CHANGE_TYPES } from "./change-view.ts";

export const narrowingQuery = {
  types: Type.Optional(
    QueryList(OneOf(CHANGE_TYPES), {
      description:
        "Only changes to records of these kinds. A record that changed only in its children does not count; the children do.",
    }),
  ),
  network_id: Type.Optional(Uuid),
  host_id: Type.Optional(Type.String({ format: "uuid", description: "Only this host and its children." })),
  subnet_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "Only this subnet, and the addresses and ranges that were in it before or after.",
    }),
  ),
  id: Type.Optional(Type.String({ format: "uuid", description: "Only this record, without its children." })),
};

export interface NarrowingParameters {
  readonly types?: readonly string[];
  readonly network_id?: string;
  readonly host_id?: string;
  readonly subnet_id?: string;
  readonly id?: string;
}

/** Plain data: it crosses to another thread. 0 stands for a record never visible to the caller. */
export interface Narrowing {
  readonly types?: readonly string[];
  readonly networkN?: number;
  readonly hostN?: number;
  readonly subnet?: { readonly n: number; readonly id: string };
  readonly recordN?: number;
}

/** Resolves the parameters for a caller. */
export function resolveNarrowing(reader: Reader, actor: Actor, parameters: NarrowingParameters): Narrowing {
  const log = new ChangeLog(reader);
  const { types, network_id, host_id, subnet_id, id } = parameters;
  const networkN = network_id === undefined ? undefined : (log.everVisible(networkKind, network_id, actor) ?? 0);
  const hostN = host_id === undefined ? undefined : (log.everVisible(hostKind, host_id, actor) ?? 0);
  const subnetN = subnet_id === undefined ? undefined : (log.everVisible(subnetKind, subnet_id, actor) ?? 0);
  return defined<Narrowing>({
    types,
    networkN,
    hostN,
    subnet: subnet_id === undefined || subnetN === undefined ? undefined : { n: subnetN, id: subnet_id },
    recordN: id === undefined ? undefined : recordN(reader, log, id, actor),
  });
}

/** Whether anything besides the network is restricted. */
export function isNarrowed({ types, hostN, subnet, recordN }: Narrowing): boolean {
  return types !== undefined || hostN !== undefined || subnet !== undefined || recordN !== undefined;
}

/** Query for the matching changes. */
export function narrowedChanges(reach: Reach, { types, networkN, hostN, subnet, recordN }: Narrowing): CountedQuery {
  return defined<CountedQuery>({
    reach,
    kinds: types === undefined ? CHANGE_KINDS : CHANGE_KINDS.filter((kind) => types.includes(kind.name)),
    networkN,
    hostN,
    referenced:
      subnet === undefined ? undefined : { ...subnet, kinds: [ipAddressKind, ipRangeKind], field: "subnet_id" },
    recordN,
  });
}

function recordN(reader: Reader, log: ChangeLog, id: string, reach: Reach): number {
  const row = reader.statement("SELECT kind FROM history_records WHERE id = +?").values(id)[0] as [number] | undefined;
  const kind = CHANGE_KINDS.find((each) => each.code === row?.[0]);
  return kind === undefined ? 0 : (log.everVisible(kind, id, reach) ?? 0);
}
