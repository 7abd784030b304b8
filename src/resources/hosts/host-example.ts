// The host that the documentation shows.

const HOST_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010";
const NETWORK_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002";
const PORT_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0013";
const SERVICE_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0014";
const AT = "2026-11-21T09:15:00.123Z";

const record = { created_at: AT, updated_at: AT, valid_from: AT, valid_to: null, lineage_id: null };
const observed = { first_discovery_id: null, last_discovery_id: null, last_seen_at: AT };

export const HOST_EXAMPLE = {
  id: HOST_ID,
  name: "web-1",
  hostname: "web-1.example.net",
  description: null,
  hidden: false,
  network_id: NETWORK_ID,
  tags: [],
  source: { type: "Manual" },
  virtualization: null,
  sys_name: null,
  sys_descr: null,
  sys_object_id: null,
  sys_location: null,
  sys_contact: null,
  chassis_id: null,
  manufacturer: null,
  model: null,
  serial_number: null,
  management_url: null,
  last_seen_at: null,
  ...record,
  credential_assignments: [],
  interfaces: [],
  ip_addresses: [
    {
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0012",
      host_id: HOST_ID,
      network_id: NETWORK_ID,
      subnet_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0004",
      ip_address: "10.2.3.4",
      mac_address: "00:1b:21:aa:bb:cc",
      name: "eth0",
      position: 0,
      ...observed,
      ...record,
    },
  ],
  ports: [{ id: PORT_ID, host_id: HOST_ID, network_id: NETWORK_ID, number: 443, protocol: "Tcp", type: "Https", ...observed, ...record }],
  services: [
    {
      id: SERVICE_ID,
      host_id: HOST_ID,
      network_id: NETWORK_ID,
      name: "Web shop",
      position: 0,
      service_definition: "nginx",
      source: { type: "Manual" },
      tags: [],
      virtualization: null,
      ...observed,
      ...record,
      bindings: [
        {
          id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0015",
          service_id: SERVICE_ID,
          network_id: NETWORK_ID,
          type: "Port",
          port_id: PORT_ID,
          ip_address_id: null,
          ...observed,
          ...record,
        },
      ],
    },
  ],
};

export const HOST_BODY_EXAMPLE = {
  network_id: NETWORK_ID,
  name: "web-1",
  hostname: "web-1.example.net",
  ip_addresses: [{ ip_address: "10.2.3.4", mac_address: "00:1b:21:aa:bb:cc", name: "eth0" }],
  ports: [{ id: PORT_ID, number: 443, protocol: "Tcp" }],
  services: [{ name: "Web shop", service_definition: "nginx", bindings: [{ type: "Port", port_id: PORT_ID }] }],
};
