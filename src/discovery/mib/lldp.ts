// The neighbors of a device by LLDP, on the interfaces where they are. What is asked, and why: lldp-steps.ts.

import type { ChassisIdSubtype } from "../../resources/if-entries/vocabulary.ts";
import type { LinkId, LldpAnnouncement, TableReport } from "../device.ts";
import type { BridgePorts } from "./bridge.ts";
import { columnOf, hasRows, isWhole, put, reportOn, rowsOf, scalarOf } from "./columns.ts";
import type { InterfaceDraft } from "./interfaces.ts";
import { chassisIdOf, portIdOf } from "./link-ids.ts";
import { managementAddressesOf, neighborIndexesOf } from "./lldp-indexes.ts";
import {
  LLDP_LOCAL_PORTS_STEP,
  LLDP_LOCAL_STEP,
  LLDP_REMOTE_ADDRESSES_STEP,
  LLDP_REMOTE_STEP,
  LLDP_V2_LOCAL_PORTS_STEP,
  LLDP_V2_LOCAL_STEP,
  LLDP_V2_REMOTE_ADDRESSES_STEP,
  LLDP_V2_REMOTE_STEP,
} from "./lldp-steps.ts";
import { LocalPorts, type LocalPortText } from "./local-ports.ts";
import type { ColumnRead, Reads, SnmpValue } from "./reads.ts";
import { identifierOf, integerOf, singleSubIdOf, textOf, writtenMacOf } from "./values.ts";

export interface LldpTold {
  /** lldpLocChassisId; null where it is empty, undefined where it is not served. */
  readonly chassisId: LinkId<ChassisIdSubtype> | null | undefined;
  /** All that is announced on an interface, in a fixed order; undefined where that is not known. */
  of(ifIndex: number): LldpAnnouncement[] | undefined;
  readonly report: TableReport;
}

/**
 * Neighbors of which the device says the same in several rows (of several time marks, or destination addresses) are one. Nothing is said of any
 * interface where the neighbors, the local ports or the interfaces broke off; where the management addresses did, nothing of those that
 * are missing: with some agents that table always does, and their neighbors are neighbors all the same.
 *
 * Absent: neither local system data nor neighbors. With local system data and no row of neighbors it is complete: there are none. Neighbors on a
 * port that belongs to no interface are left out and said.
 * @param interfaces by ifIndex
 * @param areInterfacesWhole whether an interface that is not in them is none
 */
export function lldpOf(reads: Reads, interfaces: ReadonlyMap<number, InterfaceDraft>, areInterfacesWhole: boolean, ports: BridgePorts): LldpTold {
  const version = hasRows(reads, VERSION_2.remote) && !hasRows(reads, VERSION_1.remote) ? VERSION_2 : VERSION_1;
  const columns = remoteColumns(reads, version.remote);
  const addresses = columnOf(reads, version.addresses, "manAddrIfSubtype");
  const texts = localTextsOf(reads, version.localPorts);
  const isPort = (number: number): boolean => (texts.size > 0 ? texts.has(number) : ports.has(number) || interfaces.has(number));
  const indexes = neighborIndexesOf([...rowsOf(Object.values(columns))], version.indexLength, isPort);
  const managed = managementAddressesOf(addresses.values.keys(), indexes);
  const local = new LocalPorts(interfaces, ports, texts, version.countsAs, new Set(indexes.flatMap(({ port }) => port ?? [])));

  const byInterface = new Map<number, Map<string, LldpAnnouncement>>();
  let placeless = 0;
  for (const { index, port } of indexes) {
    const ifIndex = port === null ? null : local.interfaceOf(port);
    if (ifIndex === null) {
      placeless += 1;
      continue;
    }
    const announced = announcementOf(columns, index, managed.get(index));
    const list = byInterface.get(ifIndex) ?? new Map<string, LldpAnnouncement>();
    byInterface.set(ifIndex, list.set(JSON.stringify(announced), announced));
  }

  const ownChassis = localChassisOf(reads, LLDP_LOCAL_STEP.name);
  const chassisId = ownChassis === undefined ? localChassisOf(reads, LLDP_V2_LOCAL_STEP.name) : ownChassis;
  const isServed = chassisId !== undefined || indexes.length > 0;
  const isKnown = isServed && areInterfacesWhole && ports.isComplete && [VERSION_1.remote, VERSION_2.remote, version.localPorts].every((step) => isWhole(reads, step));
  const notes = placeless === 0 ? [] : [`${placeless} of ${indexes.length} neighbors are on ports that belong to no interface`];
  return {
    chassisId,
    of: (ifIndex) => {
      if (!isKnown) return undefined;
      const announced = [...(byInterface.get(ifIndex)?.values() ?? [])];
      return inOrder(addresses.isComplete ? announced : announced.map((each) => (each.mgmt_addr === undefined ? { ...each, mgmt_addr: null } : each)));
    },
    report: reportOn(reads, STEPS, isServed, notes),
  };
}

interface Version {
  readonly remote: string;
  readonly addresses: string;
  readonly localPorts: string;
  readonly indexLength: number;
  /** What a port's number is if nothing tells: version 1 recommends the bridge's, version 2 has ifIndex. */
  readonly countsAs: "bridge port" | "interface";
}

const VERSION_1: Version = { remote: LLDP_REMOTE_STEP.name, addresses: LLDP_REMOTE_ADDRESSES_STEP.name, localPorts: LLDP_LOCAL_PORTS_STEP.name, indexLength: 3, countsAs: "bridge port" };
const VERSION_2: Version = { remote: LLDP_V2_REMOTE_STEP.name, addresses: LLDP_V2_REMOTE_ADDRESSES_STEP.name, localPorts: LLDP_V2_LOCAL_PORTS_STEP.name, indexLength: 4, countsAs: "interface" };

const STEPS = [
  LLDP_LOCAL_STEP,
  LLDP_REMOTE_STEP,
  LLDP_REMOTE_ADDRESSES_STEP,
  LLDP_LOCAL_PORTS_STEP,
  LLDP_V2_LOCAL_STEP,
  LLDP_V2_REMOTE_STEP,
  LLDP_V2_REMOTE_ADDRESSES_STEP,
  LLDP_V2_LOCAL_PORTS_STEP,
].map(({ name }) => name);

type RemoteColumns = Readonly<Record<keyof typeof LLDP_REMOTE_STEP.columns, ColumnRead>>;

function remoteColumns(reads: Reads, step: string): RemoteColumns {
  const column = (name: keyof RemoteColumns): ColumnRead => columnOf(reads, step, name);
  return {
    chassisIdSubtype: column("chassisIdSubtype"),
    chassisId: column("chassisId"),
    portIdSubtype: column("portIdSubtype"),
    portId: column("portId"),
    portDesc: column("portDesc"),
    sysName: column("sysName"),
    sysDesc: column("sysDesc"),
  };
}

function announcementOf(columns: RemoteColumns, index: string, address: string | undefined): LldpAnnouncement {
  const value = (name: keyof RemoteColumns): SnmpValue | undefined => columns[name].values.get(index);
  const announced: { -readonly [Field in keyof LldpAnnouncement]: LldpAnnouncement[Field] } = {};
  put(announced, "chassis_id", chassisIdOf(value("chassisIdSubtype"), value("chassisId")) ?? undefined);
  put(announced, "port_id", portIdOf(value("portIdSubtype"), value("portId")) ?? undefined);
  put(announced, "sys_name", announcedText(value("sysName")));
  put(announced, "sys_desc", announcedText(value("sysDesc")));
  put(announced, "port_desc", announcedText(value("portDesc")));
  put(announced, "mgmt_addr", address);
  return announced;
}

function announcedText(value: SnmpValue | undefined): string | undefined {
  return (value === undefined ? null : textOf(value)) || undefined;
}

function localTextsOf(reads: Reads, step: string): Map<number, LocalPortText> {
  const subtypes = columnOf(reads, step, "portIdSubtype");
  const ids = columnOf(reads, step, "portId");
  const descs = columnOf(reads, step, "portDesc");
  const texts = new Map<number, LocalPortText>();
  for (const index of rowsOf([subtypes, ids, descs])) {
    const port = singleSubIdOf(index, 2 ** 32 - 1);
    if (port === null) continue;
    const id = ids.values.get(index);
    const desc = descs.values.get(index);
    texts.set(port, {
      subtype: integerOf(subtypes.values.get(index), 1, 7),
      id: (id === undefined ? null : identifierOf(id)) ?? "",
      mac: id === undefined ? null : writtenMacOf(id),
      desc: (desc === undefined ? null : textOf(desc)) ?? "",
    });
  }
  return texts;
}

function localChassisOf(reads: Reads, step: string): LinkId<ChassisIdSubtype> | null | undefined {
  const id = scalarOf(reads, step, "chassisId");
  return id === undefined ? undefined : chassisIdOf(scalarOf(reads, step, "chassisIdSubtype"), id);
}

function inOrder(announced: readonly LldpAnnouncement[]): LldpAnnouncement[] {
  return announced.map((each) => ({ each, key: JSON.stringify(each) })).sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ each }) => each);
}
