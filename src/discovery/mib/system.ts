// The system group of SNMPv2-MIB (RFC 3418).

import type { AllOf } from "../../base/fields.ts";
import type { Device, TableReport } from "../device.ts";
import { reportOn, scalarOf } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { integerOf, textOf } from "./values.ts";

export const SYSTEM_STEP = {
  name: "system",
  table: "system",
  scalars: {
    sysDescr: "1.3.6.1.2.1.1.1.0",
    sysObjectID: "1.3.6.1.2.1.1.2.0",
    sysUpTime: "1.3.6.1.2.1.1.3.0",
    sysContact: "1.3.6.1.2.1.1.4.0",
    sysName: "1.3.6.1.2.1.1.5.0",
    sysLocation: "1.3.6.1.2.1.1.6.0",
    sysServices: "1.3.6.1.2.1.1.7.0",
    // IF-MIB (RFC 2863); here, so that an agent without it loses no interfaces.
    ifNumber: "1.3.6.1.2.1.2.1.0",
    // SNMP-FRAMEWORK-MIB (RFC 3411); here, so that it costs no request.
    snmpEngineID: "1.3.6.1.6.3.10.2.1.1.0",
  },
  optional: ["snmpEngineID"],
} as const satisfies ReadStep;

type SystemFields = Pick<
  Device,
  | "sys_name"
  | "sys_descr"
  | "sys_object_id"
  | "sys_location"
  | "sys_contact"
  | "sys_services"
  | "up_time_ms"
  | "if_number"
  | "engine_id"
>;

/** Texts without control characters, null if empty, undefined if not served. */
export function systemOf(reads: Reads): { fields: AllOf<SystemFields>; report: TableReport } {
  const fields: AllOf<SystemFields> = {
    sys_name: textScalar(reads, "sysName"),
    sys_descr: textScalar(reads, "sysDescr"),
    sys_object_id: sysObjectIdOf(reads),
    sys_location: textScalar(reads, "sysLocation"),
    sys_contact: textScalar(reads, "sysContact"),
    sys_services: integerOf(scalarOf(reads, SYSTEM_STEP, "sysServices"), 0, 127) ?? undefined,
    up_time_ms: scaled(integerOf(scalarOf(reads, SYSTEM_STEP, "sysUpTime"), 0, TIME_TICKS_MAX), MS_PER_TICK),
    if_number: scaled(integerOf(scalarOf(reads, SYSTEM_STEP, "ifNumber"), 0, INT32_MAX), 1),
    engine_id: engineIdOf(scalarOf(reads, SYSTEM_STEP, ENGINE_ID)),
  };
  const served = reads.get(SYSTEM_STEP.name)?.scalars.keys() ?? [];
  const isServed = [...served].some((name) => name !== ENGINE_ID);
  return { fields, report: reportOn(reads, [SYSTEM_STEP.name], isServed) };
}

/** Dotted; null for zeroDotZero, which means none (RFC 2578 §2); undefined if unknown. */
export function sysObjectIdOf(reads: Reads): string | null | undefined {
  const value = scalarOf(reads, SYSTEM_STEP, "sysObjectID");
  if (typeof value !== "string" || value.length > OID_MAX_LENGTH || !/^\d+(\.\d+)+$/.test(value)) return undefined;
  return value === "0.0" ? null : value;
}

/**
 * Adds the engine id that SNMPv3 discovery found: many views exclude the scalar.
 * @param id hexadecimal; null if unknown
 */
export function withEngineId(reads: Reads, id: string | null): Reads {
  const system = reads.get(SYSTEM_STEP.name);
  if (system === undefined || id === null || system.scalars.has(ENGINE_ID)) return reads;
  const scalars = new Map(system.scalars).set(ENGINE_ID, Buffer.from(id, "hex"));
  return new Map(reads).set(SYSTEM_STEP.name, { ...system, scalars });
}

const ENGINE_ID = "snmpEngineID";

/** Hexadecimal; undefined if it is not served, or no SnmpEngineID (RFC 3411 §5): 5 to 32 octets. */
function engineIdOf(value: SnmpValue | undefined): string | undefined {
  if (!(value instanceof Uint8Array) || value.length < 5 || value.length > 32) return undefined;
  return Buffer.from(value).toString("hex");
}

/** TimeTicks (RFC 2578 §7.1.8): hundredths of a second, modulo 2^32. */
const TIME_TICKS_MAX = 2 ** 32 - 1;
const MS_PER_TICK = 10;
const INT32_MAX = 2 ** 31 - 1;

function scaled(value: number | null, factor: number): number | undefined {
  return value === null ? undefined : value * factor;
}

/** 128 sub-identifiers of ten digits (RFC 2578 §3.5). */
const OID_MAX_LENGTH = 128 * 11;

function textScalar(reads: Reads, scalar: keyof typeof SYSTEM_STEP.scalars): string | null | undefined {
  const value = scalarOf(reads, SYSTEM_STEP, scalar);
  const text = value === undefined ? null : textOf(value);
  return text === null ? undefined : text || null;
}
