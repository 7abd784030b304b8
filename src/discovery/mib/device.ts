// What was read of a device by the plan, as the device that it tells of. Pure and total: no device, however it lies, makes it throw.

import type { Device } from "../device.ts";
import { addressesOf } from "./addresses.ts";
import { arpOf } from "./arp.ts";
import { bridgeAddressOf, bridgePortsOf } from "./bridge.ts";
import { cdpOf } from "./cdp.ts";
import { put } from "./columns.ts";
import { entityOf } from "./entity.ts";
import { forwardingOf } from "./forwarding.ts";
import { interfacesOf } from "./interfaces.ts";
import { lldpOf } from "./lldp.ts";
import type { Reads } from "./reads.ts";
import { systemOf } from "./system.ts";
import { vlansOf } from "./vlans.ts";

/**
 * The device of whatever was read by READING_PLAN; of nothing, a device of which nothing was told.
 *
 * Rows of partial tables are in `interfaces`, `addresses`, `arp` and `vlans` as far as they were read. The lists of one interface (`vlans`, `forwarding`,
 * `lldp`, `cdp`) are there only where they are whole: what broke off clears nothing. A table is partial also where it was read to its end and some of it
 * could not be placed, which its `problem` says: then the lists are what could be.
 */
export function deviceOf(reads: Reads): Device {
  const system = systemOf(reads);
  const entity = entityOf(reads);
  const { interfaces, report, extensionsReport } = interfacesOf(reads);
  const addresses = addressesOf(reads);
  const arp = arpOf(reads);
  const ports = bridgePortsOf(reads, interfaces);
  const forwarding = forwardingOf(reads, ports, interfaces);
  const vlans = vlansOf(reads, ports);
  const lldp = lldpOf(reads, interfaces, report.problem === null, ports);
  const cdp = cdpOf(reads, interfaces);

  for (const [ifIndex, draft] of interfaces) {
    const { native, members } = vlans.of(ifIndex);
    put(draft, "native_vlan", native);
    put(draft, "vlans", members);
    put(draft, "forwarding", forwarding.isWhole ? (forwarding.byInterface.get(ifIndex) ?? []) : undefined);
    put(draft, "lldp", lldp.of(ifIndex));
    put(draft, "cdp", cdp.of(ifIndex));
  }

  const device: { -readonly [Field in keyof Device]: Device[Field] } = {
    tables: {
      system: system.report,
      entity: entity.report,
      interfaces: report,
      interface_extensions: extensionsReport,
      addresses: addresses.report,
      arp: arp.report,
      forwarding: forwarding.report,
      vlans: vlans.report,
      lldp: lldp.report,
      cdp: cdp.report,
    },
    ...system.fields,
    ...entity.fields,
  };
  put(device, "chassis_id", lldp.chassisId);
  put(device, "bridge_address", bridgeAddressOf(reads));
  put(device, "interfaces", interfaces.size === 0 ? undefined : [...interfaces.values()]);
  put(device, "addresses", addresses.addresses);
  put(device, "arp", arp.arp);
  put(device, "vlans", vlans.vlans);
  return device;
}
