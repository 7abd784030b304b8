// IP addresses as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { BindingRecord } from "../bindings/binding.ts";
import { endpointText } from "../bindings/endpoint.ts";
import type { Named, Resource } from "../resource.ts";
import { IP_ADDRESS_EXAMPLE, IpAddress, type IpAddressRecord, ipAddressKind } from "./ip-address.ts";

export const ipAddressResource: Resource<IpAddressRecord> & Named<IpAddressRecord> = {
  kind: ipAddressKind,
  path: "ip-addresses",
  group: "IP addresses",
  about: "The addresses of hosts, each in a subnet of the host's network.",
  responseSchema: IpAddress,
  example: IP_ADDRESS_EXAMPLE,
  names: {
    columns: {
      ip_address_id: "ip_address",
      bindings: { name: "binding_names", id: (binding: BindingRecord) => binding.ip_address_id, text: endpointText },
    },
    fields: ["ip_address"],
    example: "10.2.3.4",
  },
  read: VIEWER,
  write: MEMBER,
};
