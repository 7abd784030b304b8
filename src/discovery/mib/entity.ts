// Chassis of a device with manufacturer, model and serial number: ENTITY-MIB (RFC 6933), else the manufacturer by
// enterprise number.

import type { AllOf } from "../../base/fields.ts";
import type { Device, DeviceComponent, TableReport } from "../device.ts";
import { KEPT_ROW, type RowCount } from "../rows.ts";
import { areComplete, columnOf, countStep, reportOn, rowsOf } from "./columns.ts";
import { MANUFACTURERS_BY_ENTERPRISE } from "./manufacturers.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue } from "./reads.ts";
import { sysObjectIdOf } from "./system.ts";
import { integerOf, singleSubIdOf, textOf } from "./values.ts";

/** entPhysicalTable. */
export const ENTITY_STEP = {
  name: "ent_physical_table",
  table: "entity",
  columns: {
    entPhysicalContainedIn: "1.3.6.1.2.1.47.1.1.1.1.4",
    entPhysicalClass: "1.3.6.1.2.1.47.1.1.1.1.5",
    entPhysicalParentRelPos: "1.3.6.1.2.1.47.1.1.1.1.6",
    entPhysicalSerialNum: "1.3.6.1.2.1.47.1.1.1.1.11",
    entPhysicalMfgName: "1.3.6.1.2.1.47.1.1.1.1.12",
    entPhysicalModelName: "1.3.6.1.2.1.47.1.1.1.1.13",
  },
} as const satisfies ReadStep;

type EntityFields = Pick<Device, "manufacturer" | "model" | "serial_number">;

interface ReportedEntities {
  readonly fields: AllOf<EntityFields>;
  /** Undefined unless the table was read completely. */
  readonly components: readonly DeviceComponent[] | undefined;
  readonly rows: EntityRows;
  readonly report: TableReport;
}

/**
 * Uses the chassis with the lowest position and a serial number, else the one with the lowest position: in a stack, its
 * first member. The stack entry fills gaps. Without a chassis, uses the first entity with a serial number that is not a
 * field-replaceable unit (power supply, fan, sensor, port). A partially read table yields only reported values, once the
 * chassis is identified. The enterprise number sets the manufacturer only if the table is complete or absent and has
 * none. If the table is absent, returns no rows.
 */
export function entityOf(reads: Reads): ReportedEntities {
  const containers = columnOf(reads, ENTITY_STEP, "entPhysicalContainedIn");
  const classes = columnOf(reads, ENTITY_STEP, "entPhysicalClass");
  const positions = columnOf(reads, ENTITY_STEP, "entPhysicalParentRelPos");
  const serials = columnOf(reads, ENTITY_STEP, "entPhysicalSerialNum");
  const manufacturers = columnOf(reads, ENTITY_STEP, "entPhysicalMfgName");
  const models = columnOf(reads, ENTITY_STEP, "entPhysicalModelName");
  const parts: Part[] = [];
  for (const index of rowsOf([classes, serials, manufacturers, models])) {
    const number = singleSubIdOf(index, PHYSICAL_INDEX_MAX);
    if (number === null) continue;
    const textField = ({ values }: ColumnRead): string | null => meaningfulText(values.get(index));
    parts.push({
      number,
      container: integerOf(containers.values.get(index), 1, PHYSICAL_INDEX_MAX),
      partClass: integerOf(classes.values.get(index), 1, 100),
      position: integerOf(positions.values.get(index), 0, PHYSICAL_INDEX_MAX),
      serial: textField(serials),
      manufacturer: textField(manufacturers),
      model: textField(models),
    });
  }
  parts.sort((a, b) => a.number - b.number);
  const report = reportOn(reads, [ENTITY_STEP.name], parts.length > 0);

  const chassis = chassisOf(parts);
  const isComplete = areComplete([containers, classes, positions, serials, manufacturers, models]);
  const entities = deviceEntities(parts, chassis);
  const [first] = entities;
  // An unread chassis, or one with an unread serial number or position, may precede this one.
  const isPlaced = chassis.length === 1 || areComplete([containers, positions]);
  const isIdentified = isComplete || (first?.partClass === CHASSIS && first.serial !== null && isPlaced);
  const chosen = isComplete ? entities : isIdentified && first !== undefined ? [first] : [];
  const pick = (field: "serial" | "manufacturer" | "model"): string | null =>
    chosen.find((part) => part[field] !== null)?.[field] ?? null;
  const isReported = isComplete && parts.length > 0;
  const missing = isReported ? null : undefined;
  const fields: AllOf<EntityFields> = {
    manufacturer: pick("manufacturer") ?? (isComplete ? manufacturerByEnterprise(reads) : null) ?? missing,
    model: pick("model") ?? missing,
    serial_number: pick("serial") ?? missing,
  };
  const components = isReported ? chassis.map(componentOf) : undefined;
  const reported = new Set([...chosen, ...(isReported ? chassis.map(({ part }) => part) : [])]);
  const numbers = new Set([...reported].map(({ number }) => number));
  const count = countStep(reads, ENTITY_STEP, (index) => {
    const number = singleSubIdOf(index, PHYSICAL_INDEX_MAX);
    return number === null ? "index" : numbers.has(number) ? KEPT_ROW : "component";
  });
  return { fields, components, rows: { [ENTITY_STEP.name]: count }, report };
}

type EntityRows = Readonly<Record<typeof ENTITY_STEP.name, RowCount>>;

const PHYSICAL_INDEX_MAX = 2 ** 31 - 1;

interface Part {
  /** entPhysicalIndex. */
  readonly number: number;
  /** Null at the top level, or if unknown. */
  readonly container: number | null;
  readonly partClass: number | null;
  /** entPhysicalParentRelPos; null if unknown. */
  readonly position: number | null;
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
}

/** Agents nest up to ten levels; the limit ends cycles. */
const DEPTH_MAX = 32;

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

interface PlacedChassis {
  readonly part: Part;
  readonly position: number;
}

/**
 * Lists the outermost chassis by position; a device with several is a stack. A chassis without a position gets its rank
 * by index; if that position is taken, all chassis do. Rows without any text are empty slots.
 */
function chassisOf(parts: readonly Part[]): PlacedChassis[] {
  const byNumber = new Map(parts.map((part) => [part.number, part]));
  const all = parts.filter(({ partClass }) => partClass === CHASSIS);
  const outer = all.filter((part) => !containersOf(part, byNumber).some(({ partClass }) => partClass === CHASSIS));
  // Some agents report a chassis as contained in itself.
  const placed = nonEmpty(outer.length === 0 ? all : outer);
  const reported = placed.map(({ position }) => position);
  const doubled = repeatedIn(reported);
  const filled = reported.map((position, rank) => (position === null || doubled.has(position) ? rank + 1 : position));
  const areUnique = repeatedIn(filled).size === 0;
  return placed
    .map((part, rank) => ({ part, position: (areUnique ? filled[rank] : null) ?? rank + 1 }))
    .sort((a, b) => a.position - b.position);
}

/** Drops chassis without any text, unless none has one. */
function nonEmpty(chassis: readonly Part[]): readonly Part[] {
  const known = chassis.filter(({ serial, manufacturer, model }) =>
    [serial, manufacturer, model].some((text) => text !== null),
  );
  return known.length === 0 ? chassis : known;
}

function repeatedIn<Value>(values: readonly Value[]): ReadonlySet<Value> {
  const [once, repeated] = [new Set<Value>(), new Set<Value>()];
  for (const value of values) (once.has(value) ? repeated : once).add(value);
  return repeated;
}

/** Lists the containers of a part, innermost first, up to the limit. */
function containersOf({ container }: Part, byNumber: ReadonlyMap<number, Part>): Part[] {
  const around: Part[] = [];
  for (let part = byNumber.get(container ?? 0); part !== undefined && around.length < DEPTH_MAX; ) {
    around.push(part);
    part = byNumber.get(part.container ?? 0);
  }
  return around;
}

function componentOf({ part, position }: PlacedChassis, _: number, all: readonly PlacedChassis[]): DeviceComponent {
  return {
    class: all.length > 1 ? "StackMember" : "Chassis",
    position,
    manufacturer: part.manufacturer,
    model: part.model,
    serial_number: part.serial,
  };
}

/** Returns the entity that represents the device, then the entities that fill its gaps. */
function deviceEntities(parts: readonly Part[], chassis: readonly PlacedChassis[]): Part[] {
  const stacks = parts.filter((part) => part.partClass === STACK);
  const outer = new Set(chassis.map(({ part }) => part));
  const inner = parts.filter((part) => part.partClass === CHASSIS && !outer.has(part));
  const first = [...outer, ...inner].find((part) => part.serial !== null) ?? chassis[0]?.part;
  if (first !== undefined) return [first, ...stacks];
  if (stacks.length > 0) return stacks;
  const other = parts.find((part) => part.serial !== null && !FRU_CLASSES.includes(part.partClass));
  return other === undefined ? [] : [other];
}

function meaningfulText(value: SnmpValue | undefined): string | null {
  const text = value === undefined ? null : textOf(value);
  return text === null || text === "" || PLACEHOLDER.test(text) ? null : text;
}

function manufacturerByEnterprise(reads: Reads): string | null {
  const [, enterprise] = /^1\.3\.6\.1\.4\.1\.(\d+)(?:\.|$)/.exec(sysObjectIdOf(reads) ?? "") ?? [];
  return enterprise === undefined ? null : (MANUFACTURERS_BY_ENTERPRISE.get(Number(enterprise)) ?? null);
}
