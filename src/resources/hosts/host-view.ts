// A host as it is answered: its own fields, and the children that are records of their own, spliced in as text.

import type { AsOf } from "../../db/list-query.ts";
import type { Compose, Item, Reader } from "../../db/reader.ts";
import { spliced, type ComposeFor } from "../answers.ts";
import { bindingKind } from "../bindings/binding.ts";
import { hostAssignmentsView } from "../credential-assignments/assignments.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { serviceKind } from "../services/service.ts";

/** The whole host (specification 2.3). */
export const composeHosts: ComposeFor = Object.assign(composeHost, { parts: { scope: "host" as const, kinds: [ifEntryKind, ipAddressKind, portKind, serviceKind, bindingKind] } });

function composeHost(reader: Reader): Compose {
  return (items: Item[], asOf: AsOf | null) => {
    const numbers = items.map((item) => item.n);
    const assignments = reader.parts(credentialAssignmentKind, "host", numbers, asOf);
    const interfaces = reader.parts(ifEntryKind, "host", numbers, asOf);
    const addresses = reader.parts(ipAddressKind, "host", numbers, asOf);
    const ports = reader.parts(portKind, "host", numbers, asOf);
    const services = reader.parts(serviceKind, "host", numbers, asOf);
    const bindings = reader.parts(bindingKind, "host", numbers, asOf);
    return items.map(({ n, text }) => {
      const members = [
        `"credential_assignments":${JSON.stringify(hostAssignmentsView(assignments.get(n) ?? []))}`,
        `"interfaces":[${(interfaces.get(n) ?? []).map(interfaceOfHost).join(",")}]`,
        `"ip_addresses":[${(addresses.get(n) ?? []).join(",")}]`,
        `"ports":[${(ports.get(n) ?? []).join(",")}]`,
        `"services":[${servicesWithBindings(services.get(n) ?? [], bindings.get(n) ?? []).join(",")}]`,
      ];
      return spliced(text, members.join(","));
    });
  };
}

/** Every field of specification 2.4, null where there is no value; fields beyond it belong to the interface list. */
const INTERFACE_DEFAULTS = {
  id: null,
  host_id: null,
  network_id: null,
  if_index: null,
  if_descr: null,
  if_name: null,
  if_alias: null,
  if_type: null,
  speed_bps: null,
  admin_status: null,
  oper_status: null,
  mac_address: null,
  ip_address_id: null,
  lldp_chassis_id: null,
  lldp_port_id: null,
  lldp_sys_name: null,
  lldp_sys_desc: null,
  lldp_port_desc: null,
  lldp_mgmt_addr: null,
  cdp_device_id: null,
  cdp_port_id: null,
  cdp_platform: null,
  cdp_address: null,
  neighbor: null,
  first_discovery_id: null,
  last_discovery_id: null,
  last_seen_at: null,
  lineage_id: null,
  created_at: null,
  updated_at: null,
  valid_from: null,
  valid_to: null,
};

function interfaceOfHost(text: string): string {
  const { fdb_macs: _macs, native_vlan_id: _native, vlan_ids: _vlans, ...entry } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({ ...INTERFACE_DEFAULTS, ...entry });
}

function servicesWithBindings(services: string[], bindings: string[]): string[] {
  const byService = new Map<string, string[]>();
  for (const text of bindings) {
    // The host is the one that it is shown in (specification 2.7).
    const { host_id: _shown, ...binding } = JSON.parse(text) as { service_id: string; host_id: string };
    const list = byService.get(binding.service_id);
    if (list === undefined) byService.set(binding.service_id, [JSON.stringify(binding)]);
    else list.push(JSON.stringify(binding));
  }
  return services.map((service) => spliced(service, `"bindings":[${(byService.get(idOf(service)) ?? []).join(",")}]`));
}

function idOf(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}
