// A Linux router as its SNMP agent reports it: the values of its tables, decoded as in a scan.

import { parseIp } from "../../../src/base/ip.ts";
import type { Device } from "../../../src/discovery/device.ts";
import { deviceOf } from "../../../src/discovery/mib/device.ts";
import { hex, readsWith, type SyntheticStep, tableOf, utf8 } from "./synthetic-reads.ts";

export interface AgentInterface {
  readonly index: number;
  readonly name: string;
  /** ifDescr; default: the name. */
  readonly descr?: string;
  /** IANAifType-MIB number; default Ethernet. */
  readonly type?: number;
  /** ifPhysAddress in hexadecimal, as reported; default none. */
  readonly phys?: string;
  /** Default Up. `Disabled`: administratively down. */
  readonly status?: "Up" | "Down" | "Disabled";
}

export interface AgentTables {
  readonly name?: string;
  readonly interfaces: readonly AgentInterface[];
  /** Address → ifIndex. */
  readonly addresses?: Readonly<Record<string, number>>;
  /** Tables that broke off: ifXTable before its first row. */
  readonly broken?: readonly BreakableTable[];
  /** False for an agent without ifXTable. */
  readonly hasNames?: boolean;
}

type BreakableTable = "if_table" | "if_x_table" | "ip_address_table";

/** Report of an agent with these tables. */
export function snmpd({ name, interfaces, addresses = {}, broken = [], hasNames = true }: AgentTables): Device {
  const rowsOf = <Row>(row: (each: AgentInterface) => Row) =>
    Object.fromEntries(interfaces.map((each) => [String(each.index), row(each)]));
  const breaking = (step: BreakableTable) => (broken.includes(step) ? { broken: ["*"] } : {});
  const areNamesRead = hasNames && !broken.includes("if_x_table");
  const steps: Record<string, SyntheticStep> = {
    system: { scalars: { ...(name === undefined ? {} : { sysName: utf8(name) }), sysDescr: utf8("Linux router 6.1") } },
    if_table: {
      ...tableOf(
        rowsOf(({ name: text, descr = text, type = 6, phys = "", status = "Up" }) => ({
          ifDescr: utf8(descr),
          ifType: type,
          ifSpeed: 0,
          ifPhysAddress: hex(phys),
          ifAdminStatus: status === "Disabled" ? 2 : 1,
          ifOperStatus: status === "Up" ? 1 : 2,
        })),
      ),
      ...breaking("if_table"),
    },
    if_x_table: {
      ...tableOf(areNamesRead ? rowsOf((each) => ({ ifName: utf8(each.name), ifAlias: utf8("") })) : {}),
      ...breaking("if_x_table"),
    },
    ip_address_table: {
      ...tableOf(
        Object.fromEntries(
          Object.entries(addresses).map(([text, ifIndex]) => {
            const bytes = parseIp(text)?.bytes ?? [];
            const index = [bytes.length === 4 ? 1 : 2, bytes.length, ...bytes].join(".");
            return [index, { ipAddressIfIndex: ifIndex, ipAddressType: 1, ipAddressPrefix: null }];
          }),
        ),
      ),
      ...breaking("ip_address_table"),
    },
  };
  return deviceOf(readsWith(steps));
}
