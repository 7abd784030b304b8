// Switched network of a building, as a tree of devices, and its inventory: forwarding tables and LLDP neighbors,
// written directly to a store. Tests compare its known positions with the results of locate.

import { fdbEntryKind } from "../../../src/resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../../src/resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../../src/resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../../src/resources/subnets/subnet.ts";
import { addressFields, fdbEntryFields, hostFields, ifEntryFields, type Store, subnetFields } from "../store/store.ts";

/** Ends of a link with a recorded LLDP neighbor: the first, the second, both or none. */
export type LldpEnds = "Both" | "First" | "Second" | "None";

interface Device {
  readonly name: string;
  /** Null for a device without a MAC address: an unmanaged switch. */
  readonly mac: string | null;
  readonly isInInventory: boolean;
  /** Whether its forwarding table is recorded. */
  readonly isReporting: boolean;
}

interface Link {
  readonly ends: readonly [End, End];
  readonly lldpEnds: LldpEnds;
}

interface End {
  readonly device: Device;
  /** The forwarding port; on an aggregate, a member has the LLDP neighbor. */
  readonly port: string;
  readonly member: string | null;
}

const IF_TYPE_LAG = 161;

export class Topology {
  private readonly devices = new Map<string, Device>();
  private readonly links: Link[] = [];
  private readonly portCounts = new Map<string, number>();

  /** A switch in the inventory. */
  switch(name: string, options: { reports?: boolean } = {}): this {
    return this.add({ name, mac: this.nextMac(), isInInventory: true, isReporting: options.reports ?? true });
  }

  /** A switch outside the inventory. */
  unmanaged(name: string, device: string): this {
    return this.add({ name, mac: null, isInInventory: false, isReporting: false }).link(device, name, "None");
  }

  /** A host in the inventory, optionally named by LLDP at its port. */
  host(name: string, device: string, options: { lldp?: boolean; known?: boolean } = {}): this {
    return this.add({ name, mac: this.nextMac(), isInInventory: options.known ?? true, isReporting: false }).link(
      device,
      name,
      options.lldp === true ? "First" : "None",
    );
  }

  /** Several hosts, named `name-0` and so on: one per port, or all behind one device. */
  hosts(count: number, name: string, device: string): this {
    for (let index = 0; index < count; index += 1) this.host(`${name}-${index}`, device);
    return this;
  }

  /** Connects two devices, on one port each. @param lag whether several links are one port at both ends */
  link(first: string, second: string, lldpEnds: LldpEnds = "None", options: { lag?: boolean } = {}): this {
    const end = (name: string): End => {
      const number = (this.portCounts.get(name) ?? 0) + 1;
      this.portCounts.set(name, number);
      return {
        device: this.device(name),
        port: options.lag === true ? `Po${number}` : `Gi${number}`,
        member: options.lag === true ? `Te${number}` : null,
      };
    };
    this.links.push({ ends: [end(first), end(second)], lldpEnds });
    return this;
  }

  macOf(name: string): string {
    return this.device(name).mac as string;
  }

  /** Names of the devices with a MAC address. */
  names(): string[] {
    return [...this.devices.values()].filter(({ mac }) => mac !== null).map(({ name }) => name);
  }

  /**
   * Ports (`Gi1 of access-1`) of the nearest reporting switches towards a device: one if it is on a reporting
   * switch; several if a device in between does not report.
   */
  reportingPorts(name: string): string[] {
    const ports: string[] = [];
    const queue: Array<{ name: string; towards: End | null }> = [{ name, towards: null }];
    const visited = new Set([name]);
    for (const { name: device, towards } of queue) {
      if (towards !== null && this.device(device).isReporting) {
        ports.push(`${towards.port} of ${device}`);
        continue;
      }
      for (const [, far] of this.endsAt(device)) {
        if (visited.has(far.device.name)) continue;
        visited.add(far.device.name);
        queue.push({ name: far.device.name, towards: far });
      }
    }
    return ports.sort();
  }

  /**
   * Writes the recorded state in one transaction.
   * @param isLearned whether a switch has learned a device; by default always
   * @returns the interface entries, by `Gi1 of access-1`
   */
  write(store: Store, isLearned: (device: string, name: string) => boolean = () => true): Map<string, IfEntryRecord> {
    const { organizationId, networkId } = store;
    const ports = new Map<string, IfEntryRecord>();
    store.write((tx) => {
      const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/8"));
      const hosts = new Map<string, HostRecord>();
      for (const [position, device] of [...this.devices.values()].entries()) {
        if (!device.isInInventory) continue;
        const host = tx.create(hostKind, organizationId, hostFields(networkId, device.name));
        hosts.set(device.name, host);
        tx.create(
          ipAddressKind,
          organizationId,
          addressFields(host, subnet.id, `10.0.${position >> 8}.${position & 255}`, { mac_address: device.mac }),
        );
      }
      for (const [name, host] of hosts) {
        const device = this.device(name);
        for (const [own, far, hasNeighbor] of this.endsAt(name)) {
          const neighbor = hasNeighbor && far.device.mac !== null ? lldp(far) : {};
          const index = Number(own.port.slice(2));
          if (!device.isReporting && !hasNeighbor) continue;
          const port = tx.create(
            ifEntryKind,
            organizationId,
            ifEntryFields(host, index, {
              if_name: own.port,
              ...(own.member === null ? neighbor : { if_type: IF_TYPE_LAG }),
            }),
          );
          if (own.member !== null)
            tx.create(
              ifEntryKind,
              organizationId,
              ifEntryFields(host, 1_000 + index, { if_name: own.member, ...neighbor }),
            );
          const macs = !device.isReporting
            ? []
            : this.beyond(name, far.device.name).filter((other) => other.mac !== null && isLearned(name, other.name));
          for (const { mac } of macs) tx.create(fdbEntryKind, organizationId, fdbEntryFields(port, mac as string));
          if (macs.length > 0) tx.setComposed(ifEntryKind, port.id, true);
          ports.set(`${own.port} of ${name}`, port);
        }
      }
    });
    return ports;
  }

  private add(device: Device): this {
    this.devices.set(device.name, device);
    return this;
  }

  private device(name: string): Device {
    const device = this.devices.get(name);
    if (device === undefined) throw new Error(`no device named ${name}`);
    return device;
  }

  private nextMac(): string {
    const number = this.devices.size + 1;
    return `00:1b:21:00:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;
  }

  /** Links of a device: its own end, the far end, and whether the own end names its neighbor. */
  private endsAt(name: string): Array<[own: End, far: End, hasNeighbor: boolean]> {
    return this.links.flatMap(({ ends: [first, second], lldpEnds }) => {
      if (first.device.name === name) return [[first, second, lldpEnds === "Both" || lldpEnds === "First"]];
      return second.device.name === name ? [[second, first, lldpEnds === "Both" || lldpEnds === "Second"]] : [];
    });
  }

  /** A neighbor of a device and all devices on its side of the tree. */
  private beyond(from: string, to: string): Device[] {
    const found = [to];
    const visited = new Set([from, to]);
    for (const name of found)
      for (const [, far] of this.endsAt(name)) {
        if (visited.has(far.device.name)) continue;
        visited.add(far.device.name);
        found.push(far.device.name);
      }
    return found.map((name) => this.device(name));
  }
}

function lldp({ device, port, member }: End): Partial<IfEntryRecord> {
  return {
    lldp_chassis_id: { subtype: "MacAddress", value: device.mac as string },
    lldp_port_id: { subtype: "InterfaceName", value: member ?? port },
    lldp_sys_name: device.name,
  };
}
