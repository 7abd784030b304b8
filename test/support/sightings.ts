// What scans see, and the commands that write it, run as the writer runs them.

import type { CommandActor } from "../../src/access/actor.ts";
import type { Outcome } from "../../src/db/transaction.ts";
import { DEVICE_TABLES, type Device, type DeviceInterface, type TableReport } from "../../src/discovery/device.ts";
import { heardOf } from "../../src/discovery/reconcile/neighbor-tables.ts";
import { digestOf } from "../../src/discovery/reconcile/tellings.ts";
import { NO_ROWS } from "../../src/discovery/rows.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import type { TestAppliance } from "./appliance.ts";

const COMPLETE = Object.fromEntries(
  DEVICE_TABLES.map((table) => [table, { state: "complete", problem: null } satisfies TableReport]),
) as unknown as Device["tables"];

/** A device of which everything was read. */
export function device(fields: Partial<Device> = {}): Device {
  return { tables: COMPLETE, rows: rowsOf({}), ...fields };
}

/** Rows of some tables; of the others none. */
export function rowsOf(counts: Partial<Device["rows"]>): Device["rows"] {
  return Object.fromEntries(DEVICE_TABLES.map((table) => [table, counts[table] ?? NO_ROWS])) as Device["rows"];
}

/** An Ethernet port that is up. */
export function ethernet(ifIndex: number, fields: Partial<DeviceInterface> = {}): DeviceInterface {
  return {
    if_index: ifIndex,
    if_descr: `GigabitEthernet0/${ifIndex}`,
    if_name: `Gi0/${ifIndex}`,
    if_alias: null,
    if_type: 6,
    speed_bps: 1_000_000_000,
    admin_status: "Up",
    oper_status: "Up",
    mac_address: mac(ifIndex),
    native_vlan: null,
    vlans: [],
    forwarding: [],
    lldp: [],
    cdp: [],
    ...fields,
  };
}

/** One of 16 million addresses of one maker. @param device tells devices apart */
export function mac(number: number, device = 0): string {
  const hex = (device * 256 + number).toString(16).padStart(6, "0");
  return `00:1b:21:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
}

export function deviceAt(address: string, fields: Partial<Device>, more: Partial<DeviceSighting> = {}): DeviceSighting {
  return { ip_address: address, mac_address: null, device: device(fields), credential: null, ...more };
}

export function seenAt(address: string, more: Partial<AddressSighting> = {}): AddressSighting {
  return { ip_address: address, mac_address: null, answered: ["Icmp"], ...more };
}

/** Writes what scans see, in the first network of an appliance. Each write is a scan of its own, a minute after the last. */
export class ScanWriter {
  private readonly appliance: TestAppliance;
  private count = 0;
  /** Of the last write. */
  scanId = "";

  constructor(appliance: TestAppliance) {
    this.appliance = appliance;
  }

  /** With their digests, as the scanner has them. */
  devices(...sightings: DeviceSighting[]): Promise<Outcome<Recorded>> {
    return this.run("discovery.devices", { sightings: sightings.map((each) => ({ ...each, digest: digestOf(each) })) });
  }

  /** Whom a device has heard of. */
  heardBy(sighting: DeviceSighting): Promise<Outcome<Recorded>> {
    return this.addresses(...heardOf(sighting.device).sightings);
  }

  addresses(...sightings: AddressSighting[]): Promise<Outcome<Recorded>> {
    return this.run("discovery.addresses", { sightings });
  }

  stale(records: ReadonlyArray<{ entity: string; id: string }>): Promise<Outcome<Recorded>> {
    return this.run("discovery.stale", { records });
  }

  run(command: string, input: object): Promise<Outcome<Recorded>> {
    return this.whole([[command, input]]);
  }

  /** Several commands of one scan. @returns what came of the last */
  async whole(
    commands: readonly [readonly [command: string, input: object], ...(readonly [command: string, input: object])[]],
  ): Promise<Outcome<Recorded>> {
    this.appliance.clock.advance(60_000);
    this.count += 1;
    this.scanId = `0193aaaa-0000-7000-8000-${String(this.count).padStart(12, "0")}`;
    const { organizationId, networkId } = this.appliance.first;
    const author: CommandActor = {
      type: "Discovery",
      id: this.scanId,
      name: "full scan",
      organizationId,
      requestId: null,
      userId: null,
      role: "Owner",
      networkIds: [networkId],
    };
    const run = async ([command, input]: readonly [string, object]): Promise<Outcome<Recorded>> => {
      const bytes = new TextEncoder().encode(JSON.stringify({ scan_id: this.scanId, network_id: networkId, ...input }));
      const outcome = await this.appliance.writes.run<Recorded>(command, { bytes }, author);
      this.appliance.clock.advance(1_000);
      return outcome;
    };
    const [first, ...others] = commands;
    let outcome = await run(first);
    for (const each of others) outcome = await run(each);
    return outcome;
  }
}
