// Hosts with interfaces, cables and announcements: input for neighbor resolution with known cabling. No store.

import type { Announcement } from "../../../src/discovery/topology/announcements.ts";
import type { TopologyHost, TopologyPort } from "../../../src/discovery/topology/facts.ts";

/** Fields of a host; the defaults are those of a host that responded to SNMP. */
interface HostOptions {
  readonly sysName?: string | null;
  readonly name?: string;
  readonly hostname?: string | null;
  readonly chassis?: string | null;
  readonly bridge?: string;
  readonly serial?: string | null;
  readonly address?: string | null;
  readonly addressMac?: string;
}

interface PortOptions {
  readonly descr?: string;
  readonly alias?: string;
  readonly mac?: string | null;
  readonly type?: number;
  readonly index?: number;
  readonly ip?: string;
}

export class Neighborhood {
  private readonly hostFacts = new Map<string, TopologyHost>();
  private readonly portFacts = new Map<string, TopologyPort>();

  /** @param key name in the test; also the system name by default */
  host(key: string, options: HostOptions = {}): this {
    const number = this.hostFacts.size + 1;
    const address = options.address === undefined ? `10.0.${number >> 8}.${number & 255}` : options.address;
    const sysName = options.sysName === undefined ? key : options.sysName;
    this.hostFacts.set(key, {
      id: `host-${key}`,
      name: options.name ?? sysName ?? key,
      hostname: options.hostname ?? null,
      sys_name: sysName,
      chassis_id: options.chassis === undefined ? macOf(number, 0) : options.chassis,
      bridge_address: options.bridge ?? null,
      serial_number: options.serial ?? null,
      addresses: address === null ? [] : [{ ip_address: address, mac_address: options.addressMac ?? null }],
    });
    return this;
  }

  /** A host that responded to SNMP, with these ports. */
  hostWith(key: string, ...ports: string[]): this {
    return this.host(key).ports(key, ...ports);
  }

  /** Ports of a host, `Gi0/1` and the like. */
  ports(host: string, ...names: string[]): this {
    for (const name of names) this.port(host, name);
    return this;
  }

  port(host: string, name: string, options: PortOptions = {}): this {
    const index =
      options.index ?? [...this.portFacts.values()].filter(({ host_id }) => host_id === `host-${host}`).length + 1;
    const number = [...this.hostFacts.keys()].indexOf(host) + 1;
    this.portFacts.set(`${host} ${name}`, {
      id: `${host} ${name}`,
      host_id: `host-${host}`,
      if_index: index,
      if_descr: options.descr ?? name,
      if_name: name,
      if_alias: options.alias ?? null,
      if_type: options.type ?? 6,
      mac_address: options.mac === undefined ? macOf(number, index) : options.mac,
      ip_address: options.ip ?? null,
      announcements: [],
      ownCount: 0,
    });
    return this;
  }

  /** Adds received announcements to a port. @param receiver `sw1 Gi0/1` */
  receives(receiver: string, ...announcements: Announcement[]): this {
    const port = this.portFacts.get(receiver);
    if (port === undefined) throw new Error(`no port named ${receiver}`);
    this.portFacts.set(receiver, { ...port, announcements: [...port.announcements, ...announcements] });
    return this;
  }

  /** Adds the LLDP announcement of a port, with changes, to another port. */
  receivesLldp(receiver: string, from: string, changes: Partial<Announcement> = {}): this {
    return this.receives(receiver, this.lldp(from, changes));
  }

  /** Adds the CDP announcement of a port, with changes, to another port. */
  receivesCdp(receiver: string, from: string, changes: Partial<Announcement> = {}): this {
    return this.receives(receiver, this.cdp(from, changes));
  }

  /** A cable: each end receives the other's LLDP. */
  cable(first: string, second: string): this {
    return this.receivesLldp(first, second).receivesLldp(second, first);
  }

  /** LLDP announcement of a port. */
  lldp(from: string, changes: Partial<Announcement> = {}): Announcement {
    const port = this.portFacts.get(from) as TopologyPort;
    const host = this.hostOf(port);
    return {
      protocol: "Lldp",
      ...(host.chassis_id === null ? {} : { chassis_id: { subtype: "MacAddress", value: host.chassis_id } }),
      port_id: { subtype: "InterfaceName", value: port.if_name as string },
      ...(host.sys_name === null ? {} : { sys_name: host.sys_name }),
      ...(host.addresses[0] === undefined ? {} : { mgmt_addr: host.addresses[0].ip_address }),
      ...changes,
    };
  }

  /** CDP announcement of a port. */
  cdp(from: string, changes: Partial<Announcement> = {}): Announcement {
    const port = this.portFacts.get(from) as TopologyPort;
    const host = this.hostOf(port);
    return {
      protocol: "Cdp",
      device_id: host.sys_name ?? host.name,
      port_id: { subtype: "InterfaceName", value: port.if_descr },
      ...(host.addresses[0] === undefined ? {} : { address: host.addresses[0].ip_address }),
      ...changes,
    };
  }

  get hosts(): TopologyHost[] {
    return [...this.hostFacts.values()];
  }

  get allPorts(): TopologyPort[] {
    return [...this.portFacts.values()];
  }

  private hostOf(port: TopologyPort): TopologyHost {
    const host = this.hosts.find(({ id }) => id === port.host_id);
    if (host === undefined) throw new Error(`${port.id} has no host`);
    return host;
  }
}

/** A copy without the named fields. */
export function without<T extends object>(value: T, ...names: (keyof T)[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !(names as string[]).includes(name))) as T;
}

/** MAC address made of the numbers of a host and its port. */
export function macOf(host: number, port: number): string {
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  return `00:1b:${hex(host >> 8)}:${hex(host & 255)}:${hex(port >> 8)}:${hex(port & 255)}`;
}
