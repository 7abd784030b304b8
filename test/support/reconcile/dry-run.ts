// Dry-run scan without its threads: devices are passed to it one by one. No assertions.

import { UuidSource } from "../../../src/base/uuid.ts";
import { openReadOnly } from "../../../src/db/connection.ts";
import { DryRun } from "../../../src/discovery/scans/dry-run.ts";
import { SIGHTING_COMMANDS } from "../../../src/discovery/scans/sighting-commands.ts";
import type { DeviceSighting } from "../../../src/discovery/sightings.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import { seededRandom } from "../injected/seeded-random.ts";
import { inputBytes, scanActor } from "./scan-writer.ts";
import { deviceAt, ethernet, mac } from "./sightings.ts";

const SCAN_ID = "0193aaaa-0000-7000-8000-000000000001";

/** Starts a dry run in the appliance's first network; the caller closes it. */
export function newDryRun(appliance: TestAppliance): DryRun {
  return new DryRun({
    db: openReadOnly(appliance.databasePath),
    commands: SIGHTING_COMMANDS,
    actor: scanActor(appliance, SCAN_ID),
    now: appliance.clock.now(),
    uuids: new UuidSource(seededRandom(1)),
  });
}

/** Passes the report of one device to the dry run, as the scan's recorder does. */
export function reportDevice({ first }: TestAppliance, dryRun: DryRun, ...sightings: DeviceSighting[]) {
  const input = { scan_id: SCAN_ID, network_id: first.networkId, sightings };
  return dryRun.run("discovery.devices", inputBytes(input));
}

/** A switch with a long description and the same learned MAC addresses on each port. */
export function switchOf(number: number, macs: readonly string[], ports = 1): DeviceSighting {
  const address = `10.0.${number >> 8}.${number & 255}`;
  const forwarding = macs.map((mac_address) => ({ mac_address, vlan_number: 10 }));
  return deviceAt(address, {
    sys_name: `sw-${number}`,
    serial_number: `SERIAL${number}`,
    sys_descr: "x".repeat(2_000),
    interfaces: Array.from({ length: ports }, (_, port) =>
      ethernet(port + 1, { mac_address: mac(port, number + 10), forwarding }),
    ),
    addresses: [{ ip_address: address, prefix_length: 16, if_index: 1 }],
  });
}
