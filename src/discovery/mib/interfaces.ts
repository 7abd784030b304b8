// Interface decoder: ifTable and ifXTable of IF-MIB (RFC 2863). Link data is decoded and added by other modules.

import { defined } from "../../base/fields.ts";
import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";
import { ADMIN_STATUSES, OPER_STATUSES } from "../../resources/if-entries/vocabulary.ts";
import type { IfRow, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount, type RowOutcome } from "../rows.ts";
import { columnOf, countStep, isStepComplete, reported, reportOn, rowsOf } from "./columns.ts";
import { linkAddressOf, type OwnOctets } from "./link-addresses.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { IF_INDEX_MAX, integerOf, singleSubIdOf, textOf } from "./values.ts";

/** ifTable: index ifIndex. */
export const IF_TABLE_STEP = {
  name: "if_table",
  table: "interfaces",
  columns: {
    ifDescr: "1.3.6.1.2.1.2.2.1.2",
    ifType: "1.3.6.1.2.1.2.2.1.3",
    ifSpeed: "1.3.6.1.2.1.2.2.1.5",
    ifPhysAddress: "1.3.6.1.2.1.2.2.1.6",
    ifAdminStatus: "1.3.6.1.2.1.2.2.1.7",
    ifOperStatus: "1.3.6.1.2.1.2.2.1.8",
  },
} as const satisfies ReadStep;

/** ifXTable. */
export const IF_X_TABLE_STEP = {
  name: "if_x_table",
  table: "interface_extensions",
  columns: {
    ifName: "1.3.6.1.2.1.31.1.1.1.1",
    ifHighSpeed: "1.3.6.1.2.1.31.1.1.1.15",
    ifAlias: "1.3.6.1.2.1.31.1.1.1.18",
  },
} as const satisfies ReadStep;

interface ReportedIfRows {
  /** By ifIndex, ascending. */
  readonly interfaces: ReadonlyMap<number, IfRow>;
  /** The ifIndexes with a kept row of ifXTable, ascending. */
  readonly extended: readonly number[];
  /** True if a missing interface does not exist. */
  readonly areComplete: boolean;
  /** True if a missing name means that the interface has none. */
  readonly areNamesComplete: boolean;
  readonly report: TableReport;
  readonly ifXTableReport: TableReport;
  readonly rows: Readonly<Record<typeof IF_TABLE_STEP.name | typeof IF_X_TABLE_STEP.name, RowCount>>;
}

/**
 * Lists the rows of ifTable: a row only in ifXTable appeared or vanished during the read, or is a leftover. Without
 * ifTable, lists the rows of ifXTable. Both absent: no rows. Out-of-range values: ifOperStatus becomes Unknown, ifType
 * other(1), ifAdminStatus undefined (its enumeration has no unknown).
 * @param own the device's IP addresses, which are not MAC addresses
 */
export function interfacesOf(reads: Reads, own: OwnOctets): ReportedIfRows {
  const column = (name: keyof typeof IF_TABLE_STEP.columns): ColumnRead => columnOf(reads, IF_TABLE_STEP, name);
  const extension = (name: keyof typeof IF_X_TABLE_STEP.columns): ColumnRead => columnOf(reads, IF_X_TABLE_STEP, name);
  const descr = column("ifDescr");
  const type = column("ifType");
  const phys = column("ifPhysAddress");
  const admin = column("ifAdminStatus");
  const oper = column("ifOperStatus");
  const speeds = { speed: column("ifSpeed"), highSpeed: extension("ifHighSpeed") };
  const name = extension("ifName");
  const alias = extension("ifAlias");
  const base = numbered(rowsOf([descr, type, speeds.speed, phys, admin, oper]));
  const extended = numbered(rowsOf([name, speeds.highSpeed, alias]));
  const report = reportOn(reads, [IF_TABLE_STEP.name], base.length > 0);
  const isExtended = report.state === "absent";

  const interfaces = new Map<number, IfRow>();
  for (const { number, index } of isExtended ? extended : base) {
    const if_type = reported(type, index, typeOf) ?? undefined;
    // Whether octets are a MAC address depends on the type.
    const isTypeUnread = !type.isComplete && if_type === undefined;
    const row = defined<IfRow>({
      if_index: number,
      if_descr: orEmpty(reported(descr, index, (value) => textOf(value) ?? undefined)),
      if_name: reported(name, index, textOrNone),
      if_alias: reported(alias, index, textOrNone),
      if_type,
      speed_bps: speedOf(speeds, index),
      admin_status: reported(admin, index, adminStatusOf) ?? undefined,
      oper_status: reported(oper, index, operStatusOf) ?? undefined,
      mac_address: isTypeUnread ? undefined : reported(phys, index, (value) => linkAddressOf(value, if_type, own)),
    });
    interfaces.set(number, row);
  }
  const areNamesComplete = isStepComplete(reads, IF_TABLE_STEP) && isStepComplete(reads, IF_X_TABLE_STEP);
  const outcomeOf = (index: string): RowOutcome => {
    const number = ifIndexOfRow(index);
    return number === null ? "index" : interfaces.has(number) ? KEPT_ROW : "no_interface";
  };
  const hasText = (column: ColumnRead, index: string): boolean => {
    const value = column.values.get(index);
    return value !== undefined && textOrNone(value) !== undefined;
  };
  const extensionOutcomeOf = (index: string): RowOutcome => {
    const outcome = outcomeOf(index);
    if (outcome !== KEPT_ROW || isExtended || hasText(name, index) || hasText(alias, index)) return outcome;
    if (highSpeedOf(speeds.highSpeed, index) === null) return "value";
    // A speed requires both tables.
    return speedOf(speeds, index) === undefined ? "withheld" : KEPT_ROW;
  };
  return {
    interfaces,
    extended: extended.filter(({ index }) => extensionOutcomeOf(index) === KEPT_ROW).map(({ number }) => number),
    areComplete: isStepComplete(reads, isExtended ? IF_X_TABLE_STEP : IF_TABLE_STEP),
    areNamesComplete,
    report,
    ifXTableReport: reportOn(reads, [IF_X_TABLE_STEP.name], extended.length > 0),
    rows: {
      [IF_TABLE_STEP.name]: countStep(reads, IF_TABLE_STEP, outcomeOf),
      [IF_X_TABLE_STEP.name]: countStep(reads, IF_X_TABLE_STEP, extensionOutcomeOf),
    },
  };
}

/** ifSpeed of interfaces beyond its range (RFC 2863 §3.1.7). */
const IF_SPEED_MAX = 2 ** 32 - 1;
const BPS_PER_HIGH_SPEED = 1_000_000;
const OTHER = 1;

function numbered(indexes: Iterable<string>): { number: number; index: string }[] {
  const rows: { number: number; index: string }[] = [];
  for (const index of indexes) {
    const number = ifIndexOfRow(index);
    if (number !== null) rows.push({ number, index });
  }
  return rows.sort((a, b) => a.number - b.number);
}

function ifIndexOfRow(index: string): number | null {
  return singleSubIdOf(index, IF_INDEX_MAX) || null;
}

/** Empty text becomes null, a non-text value undefined. */
function textOrNone(value: SnmpValue): string | null | undefined {
  const text = textOf(value);
  return text === null ? undefined : text || null;
}

function orEmpty(text: string | null | undefined): string | undefined {
  return text === null ? "" : text;
}

function typeOf(value: SnmpValue): number | null {
  return typeof value === "number" ? (integerOf(value, 1, IF_INDEX_MAX) ?? OTHER) : null;
}

function adminStatusOf(value: SnmpValue): AdminStatus | null {
  return typeof value === "number" ? (ADMIN_STATUSES[value - 1] ?? null) : null;
}

function operStatusOf(value: SnmpValue): OperStatus | null {
  return typeof value === "number" ? (OPER_STATUSES[value - 1] ?? "Unknown") : null;
}

/** Mbit/s; null for an invalid value. */
function highSpeedOf(highSpeed: ColumnRead, index: string): number | null {
  return integerOf(highSpeed.values.get(index), 0, Number.MAX_SAFE_INTEGER / BPS_PER_HIGH_SPEED);
}

/**
 * bit/s. Some agents report ifHighSpeed in bit/s too, recognizable by equal values. Null: none; undefined: unknown, as
 * when only one column was read or ifSpeed defers to a missing ifHighSpeed.
 */
function speedOf(
  { speed, highSpeed }: { speed: ColumnRead; highSpeed: ColumnRead },
  index: string,
): number | null | undefined {
  const bps = integerOf(speed.values.get(index), 0, IF_SPEED_MAX);
  const millions = highSpeedOf(highSpeed, index);
  const isMissing = (column: ColumnRead): boolean => !column.isComplete && !column.values.has(index);
  if (isMissing(speed) || isMissing(highSpeed)) return undefined;
  if (millions !== null && millions > 0) return millions === bps ? bps : millions * BPS_PER_HIGH_SPEED;
  if (bps === IF_SPEED_MAX && millions === null) return undefined;
  if (bps !== null) return bps > 0 && bps < IF_SPEED_MAX ? bps : null;
  return speed.values.size > 0 && !speed.values.has(index) ? null : undefined;
}
