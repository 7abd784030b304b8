// LLDP neighbor decoder, by interface. The polled tables are in lldp-steps.ts.

import { defined } from "../../base/fields.ts";
import type { ChassisIdSubtype, LldpCapability } from "../../resources/if-entries/vocabulary.ts";
import type { IfRow, LinkId, LldpAnnouncement, TableReport } from "../device.ts";
import { countRows, KEPT_ROW, type RowCount, type RowOutcome } from "../rows.ts";
import type { BridgePorts } from "./bridge.ts";
import { lldpCapabilitiesOf } from "./capabilities.ts";
import {
  areEnded,
  areLost,
  columnOf,
  countStep,
  hasRows,
  hasScalarsProblem,
  isStepComplete,
  reportOn,
  rowsOf,
  scalarOf,
} from "./columns.ts";
import { chassisIdOf, portIdOf } from "./link-ids.ts";
import { type ManagementAddresses, managementAddressesOf, neighborIndexesOf } from "./lldp-indexes.ts";
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
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { identifierOf, integerOf, macOfBytesOrText, singleSubIdOf, textOf } from "./values.ts";

interface ReportedLldp {
  /** lldpLocChassisId; null if empty, undefined if not served. */
  readonly chassisId: LinkId<ChassisIdSubtype> | null | undefined;
  /** Own system capabilities; null for none, undefined if not served. */
  readonly capabilities: readonly LldpCapability[] | null | undefined;
  /** All announcements on an interface, in a fixed order; undefined if unknown. */
  forInterface(ifIndex: number): LldpAnnouncement[] | undefined;
  /** True if the device reported neighbors before and reports none now. */
  readonly isLost: boolean;
  /** Counts as if every row assigned to an interface were reported. */
  readonly rows: VersionRows<typeof VERSION_1> & VersionRows<typeof VERSION_2>;
  readonly report: TableReport;
}

/**
 * Merges identical rows (several time marks or destination addresses) into one neighbor. Reports nothing for any
 * interface if neighbors, local ports or interfaces were partially read. If only management addresses were, only the
 * missing ones stay unknown: some agents always stop there. Absent: neither local system data nor neighbors. With local
 * system data and no rows: complete, no neighbors. Neighbors on a port without an interface are dropped and counted.
 * @param areInterfacesComplete true if a missing interface does not exist and a missing name means none
 */
export function lldpOf(
  reads: Reads,
  interfaces: ReadonlyMap<number, IfRow>,
  areInterfacesComplete: boolean,
  ports: BridgePorts,
): ReportedLldp {
  const version = hasRows(reads, VERSION_2.remote) && !hasRows(reads, VERSION_1.remote) ? VERSION_2 : VERSION_1;
  const columns = remoteColumns(reads, version.remote);
  const addresses = columnOf(reads, version.addresses, "manAddrIfSubtype");
  const texts = localTextsOf(reads, version.localPorts);
  const isPort = (number: number): boolean =>
    texts.size > 0 ? texts.has(number) : ports.has(number) || interfaces.has(number);
  const indexes = neighborIndexesOf([...rowsOf(Object.values(columns))], version.indexLength, isPort);
  const managementAddresses = managementAddressesOf(addresses.values.keys(), indexes);
  const numbers = new Set(indexes.flatMap(({ port }) => port ?? []));
  const local = new LocalPorts(interfaces, ports, texts, version.portNumberType, numbers);

  const byInterface = new Map<number, Map<string, LldpAnnouncement>>();
  const remoteRows = countRows(indexes, ({ index, port }) => {
    const ifIndex = port === null ? null : local.interfaceOf(port);
    if (ifIndex === null) return "no_interface";
    const announced = announcementOf(columns, index, managementAddresses.byRow.get(index));
    const list = byInterface.get(ifIndex) ?? new Map<string, LldpAnnouncement>();
    const text = JSON.stringify(announced);
    if (list.has(text)) return "duplicate";
    byInterface.set(ifIndex, list.set(text, announced));
    return KEPT_ROW;
  });
  const { no_interface: unassigned = 0 } = remoteRows.set_aside;

  const ownChassis = localChassisOf(reads, LLDP_LOCAL_STEP);
  const isByVersion2 = ownChassis === undefined && !hasScalarsProblem(reads, LLDP_LOCAL_STEP);
  const chassisId = isByVersion2 ? localChassisOf(reads, LLDP_V2_LOCAL_STEP) : ownChassis;
  const localStep = isByVersion2 ? LLDP_V2_LOCAL_STEP : LLDP_LOCAL_STEP;
  const remotes = [VERSION_1, VERSION_2].flatMap(({ remote }) => [...(reads.get(remote.name)?.columns.values() ?? [])]);
  const isServed = chassisId !== undefined || indexes.length > 0 || areEnded(remotes);
  const areInterfacesKnown = areInterfacesComplete && ports.isComplete && isStepComplete(reads, version.localPorts);
  // A device may switch from one LLDP-MIB version to the other.
  const isAbandoned = (remote: Version["remote"]): boolean =>
    indexes.length > 0 && remote !== version.remote && isLost(reads, remote);
  const isUsable = ({ remote }: Version): boolean => isStepComplete(reads, remote) || isAbandoned(remote);
  const isKnown = isServed && areInterfacesKnown && isUsable(VERSION_1) && isUsable(VERSION_2);
  const notes: string[] = [];
  if (!areInterfacesKnown && indexes.length > 0) {
    notes.push("the interfaces of its neighbors are unknown: not all of its ports were read");
  } else if (unassigned > 0) {
    notes.push(`${unassigned} of ${indexes.length} neighbors are on ports that belong to no interface`);
  }
  return {
    chassisId,
    capabilities: lldpCapabilitiesOf(
      scalarOf(reads, localStep, "sysCapEnabled"),
      scalarOf(reads, localStep, "sysCapSupported"),
    ),
    forInterface: (ifIndex) => {
      if (!isKnown) return undefined;
      const announced = [...(byInterface.get(ifIndex)?.values() ?? [])];
      return sorted(
        addresses.isComplete
          ? announced
          : announced.map((each) => (each.mgmt_addr === undefined ? { ...each, mgmt_addr: null } : each)),
      );
    },
    isLost: indexes.length === 0 && (isLost(reads, VERSION_1.remote) || isLost(reads, VERSION_2.remote)),
    report: reportOn(reads, STEPS, isServed, notes),
    rows: {
      ...rowsIn(reads, VERSION_1, version, remoteRows, managementAddresses),
      ...rowsIn(reads, VERSION_2, version, remoteRows, managementAddresses),
    },
  };
}

type VersionRows<Each extends Version> = Readonly<
  Record<Each["remote" | "addresses" | "localPorts"]["name"], RowCount>
>;

/** Counts the rows of a version; rows of the unused version count as superseded. */
function rowsIn<Each extends Version>(
  reads: Reads,
  own: Each,
  reported: Version,
  remote: RowCount,
  managementAddresses: ManagementAddresses,
): VersionRows<Each> {
  const isReported = own.remote === reported.remote;
  const count = (step: Pick<ReadStep, "name">, outcomeOf: (index: string) => RowOutcome): RowCount =>
    countStep(reads, step, isReported ? outcomeOf : () => "superseded");
  const rows: Record<string, RowCount> = {
    [own.remote.name]: isReported ? remote : count(own.remote, () => "superseded"),
    [own.addresses.name]: count(own.addresses, managementAddresses.outcomeOf),
    [own.localPorts.name]: count(own.localPorts, (index) =>
      singleSubIdOf(index, PORT_NUMBER_MAX) === null ? "index" : KEPT_ROW,
    ),
  };
  return rows as VersionRows<Each>;
}

/** LldpPortNumber and InterfaceIndex, within the range that agents actually use. */
const PORT_NUMBER_MAX = 2 ** 32 - 1;

interface Version {
  readonly remote: typeof LLDP_REMOTE_STEP | typeof LLDP_V2_REMOTE_STEP;
  readonly addresses: typeof LLDP_REMOTE_ADDRESSES_STEP | typeof LLDP_V2_REMOTE_ADDRESSES_STEP;
  readonly localPorts: typeof LLDP_LOCAL_PORTS_STEP | typeof LLDP_V2_LOCAL_PORTS_STEP;
  readonly indexLength: number;
  /** Default meaning of a port number: bridge port in version 1, ifIndex in version 2. */
  readonly portNumberType: "bridge port" | "interface";
}

const VERSION_1 = {
  remote: LLDP_REMOTE_STEP,
  addresses: LLDP_REMOTE_ADDRESSES_STEP,
  localPorts: LLDP_LOCAL_PORTS_STEP,
  indexLength: 3,
  portNumberType: "bridge port",
} as const satisfies Version;
const VERSION_2 = {
  remote: LLDP_V2_REMOTE_STEP,
  addresses: LLDP_V2_REMOTE_ADDRESSES_STEP,
  localPorts: LLDP_V2_LOCAL_PORTS_STEP,
  indexLength: 4,
  portNumberType: "interface",
} as const satisfies Version;

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

function remoteColumns(reads: Reads, step: Version["remote"]): RemoteColumns {
  const names = Object.keys(step.columns) as (keyof RemoteColumns)[];
  return Object.fromEntries(names.map((name) => [name, columnOf(reads, step, name)])) as RemoteColumns;
}

function announcementOf(columns: RemoteColumns, index: string, address: string | undefined): LldpAnnouncement {
  const value = (name: keyof RemoteColumns): SnmpValue | undefined => columns[name].values.get(index);
  return defined<LldpAnnouncement>({
    chassis_id: chassisIdOf(value("chassisIdSubtype"), value("chassisId")) ?? undefined,
    port_id: portIdOf(value("portIdSubtype"), value("portId")) ?? undefined,
    sys_name: announcedText(value("sysName")),
    sys_desc: announcedText(value("sysDesc")),
    port_desc: announcedText(value("portDesc")),
    mgmt_addr: address,
    capabilities: lldpCapabilitiesOf(value("sysCapEnabled"), value("sysCapSupported")) ?? undefined,
  });
}

function announcedText(value: SnmpValue | undefined): string | undefined {
  return (value === undefined ? null : textOf(value)) || undefined;
}

function localTextsOf(reads: Reads, step: Version["localPorts"]): Map<number, LocalPortText> {
  const subtypes = columnOf(reads, step, "portIdSubtype");
  const ids = columnOf(reads, step, "portId");
  const descs = columnOf(reads, step, "portDesc");
  const texts = new Map<number, LocalPortText>();
  for (const index of rowsOf([subtypes, ids, descs])) {
    const port = singleSubIdOf(index, PORT_NUMBER_MAX);
    if (port === null) continue;
    const id = ids.values.get(index);
    const desc = descs.values.get(index);
    texts.set(port, {
      subtype: integerOf(subtypes.values.get(index), 1, 7),
      id: (id === undefined ? null : identifierOf(id)) ?? "",
      mac: id === undefined ? null : macOfBytesOrText(id),
      desc: (desc === undefined ? null : textOf(desc)) ?? "",
    });
  }
  return texts;
}

function isLost(reads: Reads, step: Version["remote"]): boolean {
  return areLost([...(reads.get(step.name)?.columns.values() ?? [])]);
}

function localChassisOf(
  reads: Reads,
  step: typeof LLDP_LOCAL_STEP | typeof LLDP_V2_LOCAL_STEP,
): LinkId<ChassisIdSubtype> | null | undefined {
  const id = scalarOf(reads, step, "chassisId");
  const subtype = scalarOf(reads, step, "chassisIdSubtype");
  const isHalfRead = subtype === undefined && hasScalarsProblem(reads, step);
  return id === undefined || isHalfRead ? undefined : chassisIdOf(subtype, id);
}

function sorted(announced: readonly LldpAnnouncement[]): LldpAnnouncement[] {
  return announced
    .map((each) => ({ each, key: JSON.stringify(each) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => each);
}
