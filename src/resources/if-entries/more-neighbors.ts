// Neighbor announcements beyond the first of each protocol, as behind a hub or a phone with a computer attached.
// Written only by discovery.

import { Type } from "@sinclair/typebox";
import { OneOf, Uuid } from "../../schemas/schemas.ts";
import {
  CDP_CAPABILITIES,
  type CdpCapability,
  CHASSIS_ID_SUBTYPES,
  type ChassisIdSubtype,
  LLDP_CAPABILITIES,
  type LldpCapability,
  PORT_ID_SUBTYPES,
  type PortIdSubtype,
} from "./vocabulary.ts";

/** Far end of a link: the interface if known, else its host. */
export interface Neighbor {
  readonly type: "IfEntry" | "Host";
  readonly id: string;
}

/** IEEE 802.1AB; fields as the `lldp_…` fields of an interface entry. */
export interface MoreLldpNeighbor {
  readonly protocol: "Lldp";
  readonly chassis_id?: { readonly subtype: ChassisIdSubtype; readonly value: string };
  readonly port_id?: { readonly subtype: PortIdSubtype; readonly value: string };
  readonly sys_name?: string;
  readonly sys_desc?: string;
  readonly port_desc?: string;
  readonly mgmt_addr?: string;
  readonly capabilities?: readonly LldpCapability[];
  readonly neighbor?: Neighbor;
}

/** Fields as the `cdp_…` fields of an interface entry. */
export interface MoreCdpNeighbor {
  readonly protocol: "Cdp";
  readonly device_id?: string;
  readonly port_id?: string;
  readonly platform?: string;
  readonly address?: string;
  readonly capabilities?: readonly CdpCapability[];
  readonly neighbor?: Neighbor;
}

export type MoreNeighbor = MoreLldpNeighbor | MoreCdpNeighbor;

const text = Type.Optional(Type.String());
const neighbor = Type.Optional(
  Type.Object({ type: OneOf(["IfEntry", "Host"] as const), id: Uuid }, { description: "The far end, if known." }),
);

function capabilities<Name extends string>(names: readonly Name[]) {
  return Type.Optional(Type.Unsafe<readonly Name[]>(Type.Array(OneOf(names))));
}

/** Response schema of one announcement. */
export const MoreNeighborSchema = Type.Union([
  Type.Object({
    protocol: OneOf(["Lldp"] as const),
    chassis_id: Type.Optional(Type.Object({ subtype: OneOf(CHASSIS_ID_SUBTYPES), value: Type.String() })),
    port_id: Type.Optional(Type.Object({ subtype: OneOf(PORT_ID_SUBTYPES), value: Type.String() })),
    sys_name: text,
    sys_desc: text,
    port_desc: text,
    mgmt_addr: text,
    capabilities: capabilities(LLDP_CAPABILITIES),
    neighbor,
  }),
  Type.Object({
    protocol: OneOf(["Cdp"] as const),
    device_id: text,
    port_id: text,
    platform: text,
    address: text,
    capabilities: capabilities(CDP_CAPABILITIES),
    neighbor,
  }),
]);

/** Ids of the known far ends, optionally of one type. */
export function moreNeighborIds(announcements: readonly MoreNeighbor[] | undefined, type?: Neighbor["type"]): string[] {
  if (announcements === undefined) return [];
  return announcements.flatMap((each) =>
    each.neighbor === undefined || (type !== undefined && each.neighbor.type !== type) ? [] : [each.neighbor.id],
  );
}

/** The announcements with all references to this record removed. */
export function withoutFarEnd(announcements: readonly MoreNeighbor[], id: string): readonly MoreNeighbor[] {
  return announcements.map((each) => (each.neighbor?.id === id ? withFarEnd(each, null) : each));
}

/** The announcements with `from` replaced by `to`. */
export function withFarEndReplaced(
  announcements: readonly MoreNeighbor[],
  from: string,
  to: string,
): readonly MoreNeighbor[] {
  return announcements.map((each) =>
    each.neighbor?.id === from ? withFarEnd(each, { type: each.neighbor.type, id: to }) : each,
  );
}

/** The announcement with its far end set; null for unknown. */
export function withFarEnd(announcement: MoreNeighbor, to: Neighbor | null): MoreNeighbor {
  const { neighbor: _previous, ...rest } = announcement;
  return to === null ? rest : { ...rest, neighbor: to };
}
