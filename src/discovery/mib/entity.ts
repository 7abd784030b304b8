// Manufacturer, model and serial number: ENTITY-MIB (RFC 6933), else the manufacturer by enterprise number.

import type { AllOf } from "../../base/fields.ts";
import type { Device, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount } from "../rows.ts";
import { areComplete, columnOf, countStep, reportOn, rowsOf } from "./columns.ts";
import { MAKERS } from "./makers.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { sysObjectIdOf } from "./system.ts";
import { integerOf, singleSubIdOf, textOf } from "./values.ts";

/** entPhysicalTable. */
export const ENTITY_STEP = {
  name: "ent_physical_table",
  table: "entity",
  columns: {
    entPhysicalClass: "1.3.6.1.2.1.47.1.1.1.1.5",
    entPhysicalSerialNum: "1.3.6.1.2.1.47.1.1.1.1.11",
    entPhysicalMfgName: "1.3.6.1.2.1.47.1.1.1.1.12",
    entPhysicalModelName: "1.3.6.1.2.1.47.1.1.1.1.13",
  },
} as const satisfies ReadStep;

type EntityFields = Pick<Device, "manufacturer" | "model" | "serial_number">;

/**
 * Uses the first chassis with a serial number, else the first chassis: in a stack, its first member. The stack entry
 * fills gaps. Without a chassis, uses the first entity with a serial number that is not a field-replaceable unit (power
 * supply, fan, sensor, port). A partially read table yields only reported values, once the chassis is identified. The
 * enterprise number sets the manufacturer only if the table is complete or absent and has none. If the table is absent,
 * returns no rows.
 */
export function entityOf(reads: Reads): { fields: AllOf<EntityFields>; rows: EntityRows; report: TableReport } {
  const classes = columnOf(reads, ENTITY_STEP, "entPhysicalClass");
  const serials = columnOf(reads, ENTITY_STEP, "entPhysicalSerialNum");
  const makers = columnOf(reads, ENTITY_STEP, "entPhysicalMfgName");
  const models = columnOf(reads, ENTITY_STEP, "entPhysicalModelName");
  const columns = [classes, serials, makers, models];
  const parts: Part[] = [];
  for (const index of rowsOf(columns)) {
    const number = singleSubIdOf(index, PHYSICAL_INDEX_MAX);
    if (number === null) continue;
    const textField = ({ values }: ColumnRead): string | null => meaningfulText(values.get(index));
    parts.push({
      number,
      partClass: integerOf(classes.values.get(index), 1, 100),
      serial: textField(serials),
      maker: textField(makers),
      model: textField(models),
    });
  }
  parts.sort((a, b) => a.number - b.number);
  const report = reportOn(reads, [ENTITY_STEP.name], parts.length > 0);

  const isComplete = areComplete(columns);
  const [first] = deviceEntities(parts);
  // An unread chassis, or one with an unread serial number, may precede this one.
  const isIdentified = isComplete || (first?.partClass === CHASSIS && first.serial !== null);
  const chosen = isComplete ? deviceEntities(parts) : isIdentified && first !== undefined ? [first] : [];
  const pick = (field: "serial" | "maker" | "model"): string | null =>
    chosen.find((part) => part[field] !== null)?.[field] ?? null;
  const isReported = isComplete && parts.length > 0;
  const missing = isReported ? null : undefined;
  const fields: AllOf<EntityFields> = {
    manufacturer: pick("maker") ?? (isComplete ? makerByEnterprise(reads) : null) ?? missing,
    model: pick("model") ?? missing,
    serial_number: pick("serial") ?? missing,
  };
  const reported = new Set(chosen.map(({ number }) => number));
  const count = countStep(reads, ENTITY_STEP, (index) => {
    const number = singleSubIdOf(index, PHYSICAL_INDEX_MAX);
    return number === null ? "index" : reported.has(number) ? KEPT_ROW : "component";
  });
  return { fields, rows: { [ENTITY_STEP.name]: count }, report };
}

type EntityRows = Readonly<Record<typeof ENTITY_STEP.name, RowCount>>;

const PHYSICAL_INDEX_MAX = 2 ** 31 - 1;

interface Part {
  readonly number: number;
  readonly partClass: number | null;
  readonly serial: string | null;
  readonly maker: string | null;
  readonly model: string | null;
}

const CHASSIS = 3;
const POWER_SUPPLY = 6;
const FAN = 7;
const SENSOR = 8;
const PORT = 10;
const STACK = 11;
const FRU_CLASSES: readonly (number | null)[] = [POWER_SUPPLY, FAN, SENSOR, PORT];

/** Placeholder texts that manufacturers leave in unfilled fields. */
const PLACEHOLDER =
  /^(n\/?a|none|null|nil|empty|unknown|undefined|unspecified|default( string)?|not? (available|specified|applicable|set|present|assigned|defined)|to be filled( in)? by o\.?e\.?m\.?|o\.?e\.?m\.?|system (manufacturer|product name|serial number)|chassis serial number|0?123456789(0|ab.*)?|[-.\s*#?]+|0+|x+)$/i;

/** Returns the entity that represents the device, then the entities that fill its gaps. */
function deviceEntities(parts: readonly Part[]): Part[] {
  const chassis = parts.filter((part) => part.partClass === CHASSIS);
  const stacks = parts.filter((part) => part.partClass === STACK);
  const first = chassis.find((part) => part.serial !== null) ?? chassis[0];
  if (first !== undefined) return [first, ...stacks];
  if (stacks.length > 0) return stacks;
  const other = parts.find((part) => part.serial !== null && !FRU_CLASSES.includes(part.partClass));
  return other === undefined ? [] : [other];
}

function meaningfulText(value: SnmpValue | undefined): string | null {
  const text = value === undefined ? null : textOf(value);
  return text === null || text === "" || PLACEHOLDER.test(text) ? null : text;
}

function makerByEnterprise(reads: Reads): string | null {
  const [, enterprise] = /^1\.3\.6\.1\.4\.1\.(\d+)(?:\.|$)/.exec(sysObjectIdOf(reads) ?? "") ?? [];
  return enterprise === undefined ? null : (MAKERS.get(Number(enterprise)) ?? null);
}
