// Simulated SNMP report of a demo switch at a point in time, as the MIBs would decode it. Sends nothing.

import type { Instant } from "../base/instant.ts";
import { append } from "../base/multimap.ts";
import { DEVICE_TABLES, type Device, type DeviceInterface, type LldpAnnouncement } from "../discovery/device.ts";
import { countRows, KEPT_ROW } from "../discovery/rows.ts";
import {
  type Campus,
  type CampusStation,
  cablesOf,
  DOMAINS,
  macAfter,
  pathToRouter,
  type SwitchPort,
} from "./campus.ts";
import { SWITCHES, type Switch } from "./equipment.ts";
import { MODELS, type Model } from "./models.ts";
import { SUBNETS, VLANS } from "./places.ts";
import { STATIONS } from "./stations.ts";

const ETHERNET = 6;
/** propVirtual(53): the type of VLAN interfaces on Cisco and others. */
const VIRTUAL = 53;
const VIRTUAL_INDEX = 10_000;
const MANAGEMENT_VLAN = 10;
/** VLAN of user machines: the VLAN of a port that was never used. */
const DEFAULT_VLAN = 20;
/** The last ports of each stack member are shut if unused. */
const SHUT_FROM = 41;

/** State common to all switches at one point in time. */
export class CampusSnapshot {
  readonly instant: Instant;
  private readonly campus: Campus;
  private readonly running: ReadonlyMap<string, Switch>;
  private readonly stations: readonly CampusStation[];
  /** By switch and port. */
  private readonly learned = new Map<string, CampusStation[]>();
  private readonly connected = new Map<string, CampusStation[]>();

  constructor(campus: Campus, instant: Instant) {
    this.campus = campus;
    this.instant = instant;
    this.running = new Map(campus.switchesAt(instant).map((each) => [each.name, each]));
    this.stations = campus.stationsAt(instant);
    for (const station of this.stations) {
      append(this.connected, keyOf(station.at), station);
      if (this.campus.storyOf(station.at, instant) === "shut") continue;
      for (const port of [station.at, ...pathToRouter(station.at.switchName)])
        append(this.learned, keyOf(port), station);
    }
  }

  deviceOf(device: Switch): Device {
    const model: Model = MODELS[device.model];
    const { upgrade, members = 1 } = device;
    const version =
      upgrade !== undefined && this.campus.calendar.isWithin(this.instant, { from: upgrade.from })
        ? upgrade.version
        : model.version;
    const vlans = VLANS.filter(({ site }) => site === device.site);
    const routed = this.routedBy(device);
    const physical = (PORTS_OF.get(device) ?? []).map((port, index) => this.interfaceOf(device, port, index));
    const virtual = [...new Set([MANAGEMENT_VLAN, ...routed.map(({ vlan }) => vlan)])].map((vlan) =>
      virtualInterface(device, vlan, physical.length + vlan),
    );
    const interfaces = [...physical, ...virtual];
    const addresses = [
      { ip_address: device.address, prefix_length: 24, if_index: VIRTUAL_INDEX + MANAGEMENT_VLAN },
      ...routed.map(({ address, length, vlan }) => ({
        ip_address: address,
        prefix_length: length,
        if_index: VIRTUAL_INDEX + vlan,
      })),
    ];
    const arp = device.routes === 1 ? this.neighborsOf(device) : [];
    const tableRows = {
      interfaces,
      interface_extensions: interfaces,
      interface_stack: [],
      addresses,
      arp,
      forwarding: interfaces.flatMap(({ forwarding = [] }) => forwarding),
      vlans,
      lldp: interfaces.flatMap(({ lldp = [] }) => lldp),
      system: [device],
      entity: Array.from({ length: members }),
      cdp: [],
    };
    return {
      tables: COMPLETE,
      rows: Object.fromEntries(
        DEVICE_TABLES.map((table) => [table, countRows<unknown>(tableRows[table], () => KEPT_ROW)]),
      ) as Device["rows"],
      sys_name: device.name,
      sys_descr: model.descr.replace("%", version),
      sys_object_id: model.objectId,
      sys_location: device.location,
      sys_contact: `noc@${DOMAINS.campus}`,
      manufacturer: model.manufacturer,
      model: model.model,
      serial_number: device.serial,
      components: Array.from({ length: members }, (_, index) => ({
        class: members > 1 ? "StackMember" : "Chassis",
        position: index + 1,
        manufacturer: model.manufacturer,
        model: model.model,
        serial_number: memberSerial(device.serial, index),
      })),
      chassis_id: { subtype: "MacAddress", value: firstMacOf(device) },
      bridge_address: firstMacOf(device),
      interfaces,
      addresses,
      arp,
      vlans: vlans.map(({ number, name }) => ({ number, name })),
    };
  }

  private interfaceOf(
    device: Switch,
    { name, descr, speedBps, number, mac }: PlannedPort,
    index: number,
  ): DeviceInterface {
    const at: SwitchPort = { switchName: device.name, port: name };
    const far = cablesOf(device.name).get(name);
    const isTrunk = far !== undefined;
    const use = PORT_USES.get(keyOf(at));
    const vlan = use?.vlan ?? DEFAULT_VLAN;
    const story = this.campus.storyOf(at, this.instant);
    const isUp = isTrunk
      ? this.running.has(far.switchName)
      : story === "up" || (story === null && (use?.isDocked === true || this.connected.has(keyOf(at))));
    const isShut = story === "shut" || (!isTrunk && use === undefined && story === null && number >= SHUT_FROM);
    return {
      if_index: index + 1,
      if_descr: descr,
      if_name: name,
      if_alias: isTrunk ? `to ${far.switchName} ${far.port}` : (use?.alias ?? null),
      if_type: ETHERNET,
      speed_bps: speedBps,
      admin_status: isShut ? "Down" : "Up",
      oper_status: isUp ? "Up" : "Down",
      mac_address: mac,
      native_vlan: isTrunk ? 1 : vlan,
      vlans: isTrunk ? VLANS.filter(({ site }) => site === device.site).map((each) => each.number) : [vlan],
      forwarding: (this.learned.get(keyOf(at)) ?? [])
        .map(({ mac, kind }) => ({ mac_address: mac, vlan_number: kind.vlan }))
        .sort((a, b) => (a.mac_address < b.mac_address ? -1 : 1)),
      lldp: isTrunk ? this.announcementOf(far) : (this.connected.get(keyOf(at)) ?? []).flatMap(announcedBy),
      cdp: [],
    };
  }

  private announcementOf({ switchName, port }: SwitchPort): LldpAnnouncement[] {
    const far = this.running.get(switchName);
    if (far === undefined) return [];
    return [
      {
        chassis_id: { subtype: "MacAddress", value: firstMacOf(far) },
        port_id: { subtype: "InterfaceName", value: port },
        sys_name: far.name,
        sys_desc: MODELS[far.model].model,
        port_desc: port,
        mgmt_addr: far.address,
      },
    ];
  }

  private routedBy({ site, routes }: Switch) {
    if (routes === undefined) return [];
    return SUBNETS.flatMap(({ site: at, prefix, vlan, cidr, period }) =>
      at === site && prefix !== null && vlan !== undefined && this.campus.calendar.isWithin(this.instant, period ?? {})
        ? [{ vlan, address: `${prefix}.${routes}`, length: Number(cidr.split("/")[1]) }]
        : [],
    );
  }

  private neighborsOf({ site }: Switch) {
    return this.stations
      .filter(({ kind }) => kind.site === site)
      .flatMap(({ mac, addresses, kind }) =>
        addresses.map((ip_address) => ({ ip_address, mac_address: mac, if_index: VIRTUAL_INDEX + kind.vlan })),
      );
  }
}

interface PlannedPort {
  readonly name: string;
  readonly descr: string;
  readonly number: number;
  readonly speedBps: number;
  readonly mac: string;
}

const PORTS_OF = new Map(SWITCHES.map((each) => [each, plannedPorts(each)]));

function plannedPorts(device: Switch): PlannedPort[] {
  const { model, members = 1 } = device;
  const ports = Array.from({ length: members }, (_, member) => member + 1).flatMap((member) =>
    MODELS[model].rows.flatMap(({ name, descr, first, count, speedBps }) =>
      Array.from({ length: count }, (_, index) => {
        const numbered = (text: string) => text.replace("@", String(member)).replace("#", String(first + index));
        return { name: numbered(name), descr: numbered(descr), number: first + index, speedBps };
      }),
    ),
  );
  return ports.map((port, index) => ({ ...port, mac: macAfter(firstMacOf(device), index + 1) }));
}

function virtualInterface(device: Switch, vlan: number, index: number): DeviceInterface {
  const [descr, name] =
    MODELS[device.model].manufacturer === MODELS.core.manufacturer
      ? [`Vlan${vlan}`, `Vl${vlan}`]
      : [`vlan${vlan}`, `vlan${vlan}`];
  return {
    if_index: VIRTUAL_INDEX + vlan,
    if_descr: descr,
    if_name: name,
    if_alias: null,
    if_type: VIRTUAL,
    speed_bps: 1_000_000_000,
    admin_status: "Up",
    oper_status: "Up",
    mac_address: macAfter(firstMacOf(device), index + 1),
    native_vlan: null,
    vlans: [],
    forwarding: [],
    lldp: [],
    cdp: [],
  };
}

function announcedBy({ name, mac, kind, addresses }: CampusStation): LldpAnnouncement[] {
  if (kind.lldp === undefined) return [];
  return [
    {
      chassis_id: { subtype: "MacAddress", value: mac },
      port_id: { subtype: "MacAddress", value: mac },
      sys_name: name,
      sys_desc: kind.lldp,
      ...(addresses[0] === undefined ? {} : { mgmt_addr: addresses[0] }),
    },
  ];
}

/** Serial number of a stack member, from 0: the last character differs. */
function memberSerial(serial: string, member: number): string {
  const last = (Number.parseInt(serial.slice(-1), 36) + 3 * member) % 36;
  return serial.slice(0, -1) + last.toString(36).toUpperCase();
}

function firstMacOf({ model, mac }: Switch): string {
  return `${MODELS[model].oui}:${mac}`;
}

function keyOf({ switchName, port }: SwitchPort): string {
  return `${switchName} ${port}`;
}

const COMPLETE = Object.fromEntries(
  DEVICE_TABLES.map((table) => [table, { state: "complete", problem: null }]),
) as Device["tables"];

/** Intended use of a port: the machine ever connected there. */
interface PortUse {
  readonly vlan: number;
  /** A dock keeps the link up while the machine is away. */
  readonly isDocked: boolean;
  readonly alias: string | null;
}

const SERVERS_VLAN = 100;

const PORT_USES: ReadonlyMap<string, PortUse> = new Map(
  STATIONS.filter(({ isNameless }) => isNameless !== true).flatMap(({ name, count = 1, first, vlan, attachments }) =>
    attachments.flatMap(({ at: [switchName, port], hours }) =>
      Array.from({ length: count }, (_, number): [string, PortUse] => [
        keyOf({ switchName, port: port.replace("#", String((first?.port ?? 0) + number)) }),
        { vlan, isDocked: hours !== undefined, alias: vlan === SERVERS_VLAN ? name : null },
      ]),
    ),
  ),
);
