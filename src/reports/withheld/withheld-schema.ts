// Response schema, filter fields and example of withheld credentials.

import { type Static, Type } from "@sinclair/typebox";
import { ACTOR_TYPES } from "../../history/change-view.ts";
import { RowFields, type RowList } from "../../records/row-fields.ts";
import { HOST_EXAMPLE } from "../../resources/hosts/host-example.ts";
import { Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";

/** In listing order. */
export const WITHHELD_TYPES = ["Subnet", "Address"] as const;
export type WithheldType = (typeof WITHHELD_TYPES)[number];

const NamedRecord = Type.Object({ id: Uuid, name: Type.String() });

export const WithheldBody = Type.Object(
  {
    type: OneOf(WITHHELD_TYPES, {
      description:
        "Subnet: the network's credentials are not sent to its addresses. Address: its host's credentials are not sent to it.",
    }),
    id: { ...Uuid, description: "Id of the subnet or of the IP address." },
    value: Type.String({ description: "The prefix, or the address." }),
    network_id: Uuid,
    host: Nullable(NamedRecord, { description: "The host of the address; null for a subnet." }),
    credentials: Type.Array(NamedRecord, { description: "The withheld credentials, by name." }),
    address_count: Type.Integer({
      minimum: 0,
      description:
        "Number of recorded addresses that the credentials would be sent to: those of hosts in the subnet, and in child subnets that do not accept credentials either. 1 for an address.",
    }),
    since: Type.String({
      format: "date-time",
      description:
        "Since when the credentials are withheld: since the address or subnet and the first of the credentials have both existed, or since the confirmation was withdrawn.",
    }),
    entered_by: Type.Object(
      { type: OneOf(ACTOR_TYPES), id: Nullable(Uuid), name: Type.String() },
      { description: "The actor who gave the host the address, or created the subnet, with the name at that time." },
    ),
    reason: Type.String({ description: "Why the credentials are withheld, and how an Admin approves them." }),
  },
  { $id: "Withheld" },
);
export type WithheldBody = Static<typeof WithheldBody>;

export const WITHHELD_ROWS: RowList = { name: "withheld", path: "discovery/withheld", row: WithheldBody };
export const WITHHELD_FIELDS = new RowFields(WITHHELD_ROWS);

/** One sentence. @param hostName the host's name; null for a subnet */
export function withheldReason(type: WithheldType, id: string, hostName: string | null): string {
  if (type === "Subnet")
    return `Credentials are assigned to the network, but no Admin has approved the subnet: scans do not send them to its addresses until its accepts_credentials is set with PUT /api/v1/subnets/${id}.`;
  return `Credentials are assigned to ${hostName ?? "its host"}, but no Admin has approved this address: scans do not send them there until it is confirmed with POST /api/v1/ip-addresses/${id}/confirm.`;
}

const ADDRESS_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0011";

export const WITHHELD_EXAMPLE: WithheldBody = {
  type: "Address",
  id: ADDRESS_ID,
  value: "10.2.3.4",
  network_id: HOST_EXAMPLE.network_id,
  host: { id: HOST_EXAMPLE.id, name: HOST_EXAMPLE.name },
  credentials: [{ id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0005", name: "campus" }],
  address_count: 1,
  since: "2026-11-21T09:15:00.123Z",
  entered_by: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada" },
  reason: withheldReason("Address", ADDRESS_ID, HOST_EXAMPLE.name),
};
