// Record names, built from the naming fields of their kind.

import { entryOf } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";
import { shownName } from "./shown-name.ts";

/** A record, or a version of one. */
interface Identified {
  readonly id: string;
}

const NAME = ["{name}"];

/** `10.0.0.0/24`, `20 Offices`, `Gi1/0/7`; for a record without a visible name, the end of its id. */
export function calledOf(kind: string, record: Identified): string {
  const templates = entryOf(kind)?.called ?? NAME;
  return shownName(record.id, ...templates.map((template) => filled(template, record)));
}

/** Heading of the record's page: `VLAN 20`. */
export function headingOf(kind: string, record: Identified): string {
  const template = entryOf(kind)?.heading;
  return template === undefined ? calledOf(kind, record) : filled(template, record);
}

/** Template with each `{field}` replaced by its value; empty if every value is empty. */
function filled(template: string, record: object): string {
  let hasValue = false;
  const text = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = ownValue(record as Readonly<Record<string, unknown>>, field) ?? "";
    hasValue ||= value !== "";
    return String(value);
  });
  return hasValue ? text.trim() : "";
}
