// Implementation of GET /api/v1/subnets/tree: nested subnets of a network and their utilization.

import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { SUBNET_EXAMPLE, Subnet, subnetKind } from "../../resources/subnets/subnet.ts";
import { networkUtilization, TotalUtilization, Utilization } from "../../resources/subnets/utilization.ts";
import { LIST_HEAD, listTail, metaAt } from "../../schemas/envelope.ts";
import { Nullable, Uuid } from "../../schemas/schemas.ts";

export interface SubnetTreeInput {
  readonly actor: Actor;
  readonly networkId: string;
  readonly moment: FixedMoment;
}

const FIELDS = ["id", "cidr", "name", "subnet_type", "vlan_id", "tags"] as const;
const { id, cidr, name, subnet_type, vlan_id, tags } = Subnet.properties;

export const TreeSubnet = Type.Object(
  {
    id,
    cidr,
    name,
    subnet_type,
    vlan_id,
    tags,
    parent_id: Nullable(Uuid, { description: "The smallest enclosing subnet; null for none." }),
    depth: Type.Integer({ minimum: 0, description: "Number of enclosing subnets." }),
    child_count: Type.Integer({ minimum: 0, description: "Number of direct child subnets." }),
    utilization: {
      ...Utilization,
      description: "Utilization of the subnet itself. In IPv6 subnets, counts are decimal strings.",
    },
    total: TotalUtilization,
  },
  { $id: "TreeSubnet" },
);

export const SUBNET_TREE_EXAMPLE: Array<Static<typeof TreeSubnet>> = [
  {
    id: SUBNET_EXAMPLE.id,
    cidr: SUBNET_EXAMPLE.cidr,
    name: SUBNET_EXAMPLE.name,
    subnet_type: SUBNET_EXAMPLE.subnet_type,
    vlan_id: SUBNET_EXAMPLE.vlan_id,
    tags: SUBNET_EXAMPLE.tags,
    parent_id: null,
    depth: 0,
    child_count: 0,
    utilization: { usable: 254, used: 1, dhcp: 0, reserved: 0, in_subnets: 0, free: 253, percent: 0.4 },
    total: { usable: 254, used: 1, free: 253, percent: 0.4 },
  },
];

/** Subnets per step. */
const STEP_SUBNETS = 500;

/** Yields the response as an envelope. */
export const subnetTree = longRead(
  "subnet tree",
  function* (reader: Reader, { actor, networkId, moment }: SubnetTreeInput) {
    const { asOf } = moment;
    const encoder = new TextEncoder();
    const { placed, fieldsById } = reader.snapshot(() => {
      const all = { kind: subnetKind, reach: actor, asOf, within: { network: networkId }, limit: 0, offset: 0 };
      const rows = reader.ownFields(all, FIELDS).map((row) => JSON.parse(row) as [string, ...unknown[]]);
      return {
        placed: networkUtilization(reader, actor, asOf, networkId),
        fieldsById: new Map(
          rows.map((values) => [values[0], Object.fromEntries(FIELDS.map((field, n) => [field, values[n]]))]),
        ),
      };
    });
    yield encoder.encode(LIST_HEAD);
    for (let start = 0; start < placed.length; start += STEP_SUBNETS) {
      const items = placed
        .slice(start, start + STEP_SUBNETS)
        .map(({ id: each, parentId, depth, childCount, utilization, total }) =>
          JSON.stringify({
            ...fieldsById.get(each),
            parent_id: parentId,
            depth,
            child_count: childCount,
            utilization,
            total,
          }),
        );
      yield encoder.encode((start === 0 ? "" : ",") + items.join(","));
    }
    yield encoder.encode(listTail(metaAt(moment)));
  },
  { isInLargeSteps: true },
);
