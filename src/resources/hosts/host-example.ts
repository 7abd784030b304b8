// Example host for the API documentation.

import type { Static } from "@sinclair/typebox";
import { IP_ADDRESS_EXAMPLE } from "../ip-addresses/ip-address.ts";
import { PORT_EXAMPLE } from "../ports/port.ts";
import { RECORD_EXAMPLE } from "../record.ts";
import { SERVICE_EXAMPLE } from "../services/service-body.ts";
import { HOST_DEFAULTS } from "./host.ts";
import type { Host } from "./host-body.ts";

const NETWORK_ID = PORT_EXAMPLE.network_id;

/** Id of a port created together with its host. */
const SSH_PORT_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0033";

export const HOST_EXAMPLE: Static<typeof Host> = {
  id: PORT_EXAMPLE.host_id,
  name: "web-1",
  network_id: NETWORK_ID,
  source: { type: "Manual" },
  ...HOST_DEFAULTS,
  hostname: "web-1.example.net",
  last_seen_at: null,
  ...RECORD_EXAMPLE,
  credential_assignments: [],
  consolidated_into: null,
  interfaces: [],
  ip_addresses: [IP_ADDRESS_EXAMPLE],
  ports: [PORT_EXAMPLE],
  services: [SERVICE_EXAMPLE],
};

export const HOST_BODY_EXAMPLE = {
  network_id: NETWORK_ID,
  name: "web-1",
  hostname: "web-1.example.net",
  ip_addresses: [{ ip_address: "10.2.3.5", mac_address: "00:1b:21:aa:bb:cd", name: "eth1" }],
  ports: [{ id: SSH_PORT_ID, number: 22, protocol: "Tcp" }],
  services: [{ name: "Shell", service_definition: "OpenSSH", bindings: [{ type: "Port", port_id: SSH_PORT_ID }] }],
};
