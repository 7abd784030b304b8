// Names of records, made of the fields that their kind is called by.

import { entryOf } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";
import { shownName } from "./shown-name.ts";

/** A record, or a version of one. */
interface Identified {
  readonly id: string;
}

const NAME = ["{name}"];

/** `10.0.0.0/24`, `20 Offices`, `Gi1/0/7`; the end of the id of a record without a visible name. */
export function calledOf(kind: string, record: Identified): string {
  const templates = entryOf(kind)?.called ?? NAME;
  return shownName(record.id, ...templates.map((template) => filled(template, record)));
}

/** The heading of its page: `VLAN 20`. */
export function headingOf(kind: string, record: Identified): string {
  const template = entryOf(kind)?.heading;
  return template === undefined ? calledOf(kind, record) : filled(template, record);
}

/** A text with each `{field}` replaced by its value; empty for a record that has none of them. */
function filled(template: string, record: object): string {
  let hasValue = false;
  const text = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = ownValue(record as Readonly<Record<string, unknown>>, field) ?? "";
    hasValue ||= value !== "";
    return String(value);
  });
  return hasValue ? text.trim() : "";
}
