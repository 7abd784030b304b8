// Ports as a resource.

import { MEMBER, VIEWER } from "../../access/actor.ts";
import type { BindingRecord } from "../bindings/binding.ts";
import { endpointText } from "../bindings/endpoint.ts";
import type { Named, Resource } from "../resource.ts";
import { PORT_EXAMPLE, Port, type PortRecord, portKind } from "./port.ts";

export const portResource: Resource<PortRecord> & Named<PortRecord> = {
  kind: portKind,
  path: "ports",
  group: "Ports",
  about: "The open TCP and UDP ports of hosts.",
  responseSchema: Port,
  example: PORT_EXAMPLE,
  names: {
    columns: {
      port_id: "port",
      bindings: { name: "binding_names", id: (binding: BindingRecord) => binding.port_id, text: endpointText },
    },
    fields: ["number", "protocol"],
    example: "443/Tcp",
  },
  read: VIEWER,
  write: MEMBER,
};
