// Synthetic reads: a device's values by the plan's steps and columns. All other values are missing.

import type { Device } from "../../../src/discovery/device.ts";
import { deviceOf } from "../../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../../src/discovery/mib/plan.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../../../src/discovery/mib/reads.ts";

export interface SyntheticStep {
  readonly scalars?: Readonly<Record<string, SnmpValue>>;
  /** Column → index → value. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, SnmpValue>>>>;
  /** Columns that were cut off after their values; `*` for all, including scalars. */
  readonly broken?: readonly string[];
}

export const NO_RESPONSE = "no response within 5 s";

/** Reads with these steps, without unneeded ones. @throws Error for a step or column missing from the plan */
export function readsWith(
  steps: Readonly<Record<string, SyntheticStep>>,
  plan: readonly ReadStep[] = READING_PLAN,
): Reads {
  const unknown = Object.keys(steps).find((name) => !plan.some((step) => step.name === name));
  if (unknown !== undefined) throw new Error(`the plan has no step ${unknown}`);
  const reads = new Map<string, StepRead>();
  for (const step of plan) {
    if (step.isNeeded?.(reads) !== false) reads.set(step.name, stepRead(step, steps[step.name] ?? {}));
  }
  return reads;
}

/** Report of a device with these steps. */
export function deviceWith(steps: Readonly<Record<string, SyntheticStep>>): Device {
  return deviceOf(readsWith(steps));
}

/** A step that reads only these rows. */
export function tableOf(
  byIndex: Readonly<Record<string, Readonly<Record<string, SnmpValue | null>>>>,
): Required<Pick<SyntheticStep, "columns">> {
  return { columns: rows(byIndex) };
}

/** Rows as columns: index → column → value; null for a missing value. */
export function rows(
  table: Readonly<Record<string, Readonly<Record<string, SnmpValue | null>>>>,
): Record<string, Record<string, SnmpValue>> {
  const columns: Record<string, Record<string, SnmpValue>> = {};
  for (const [index, row] of Object.entries(table))
    for (const [column, value] of Object.entries(row)) {
      columns[column] ??= {};
      if (value !== null) columns[column][index] = value;
    }
  return columns;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Bytes of `00:1b:21` or `001b21`. */
export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(":", ""), "hex"));
}

/** A MAC address as index numbers: `0.27.33.1.2.3`. */
export function dotted(text: string): string {
  return hex(text).join(".");
}

function stepRead(step: ReadStep, { scalars = {}, columns = {}, broken = [] }: SyntheticStep): StepRead {
  const unknown = [
    ...Object.keys(scalars).filter((name) => step.scalars?.[name] === undefined),
    ...[...Object.keys(columns), ...broken].filter((name) => name !== "*" && step.columns?.[name] === undefined),
  ];
  if (unknown.length > 0) throw new Error(`${step.name} has no ${unknown.join(", ")}`);
  const isBroken = (name: string): boolean => broken.includes(name) || broken.includes("*");
  const read = Object.keys(step.columns ?? {}).map((name): [string, ColumnRead] => [
    name,
    {
      isComplete: !isBroken(name),
      problem: isBroken(name) ? NO_RESPONSE : null,
      values: new Map(Object.entries(columns[name] ?? {})),
    },
  ]);
  return {
    scalars: new Map(Object.entries(scalars)),
    scalarsProblem: broken.includes("*") && step.scalars !== undefined ? NO_RESPONSE : null,
    columns: new Map(read),
  };
}
