// Display names and headings of records, built from the templates of their kind.

import { entryOf } from "../kinds/kinds.ts";
import { ownValue } from "../text/own-value.ts";
import { shownName } from "./shown-name.ts";

/** A record, or a version of one. */
interface Identified {
  readonly id: string;
}

const NAME = ["{name}"];

/** `10.0.0.0/24`, `20 Offices`, `Gi1/0/7`; for a record without a visible name, the end of its id. */
export function displayName(kind: string, record: Identified): string {
  const templates = entryOf(kind)?.nameTemplates ?? NAME;
  return shownName(record.id, ...templates.map((template) => fillTemplate(template, record)));
}

/** Heading of the record's page: `VLAN 20`. */
export function headingOf(kind: string, record: Identified): string {
  const template = entryOf(kind)?.heading;
  return template === undefined ? displayName(kind, record) : fillTemplate(template, record);
}

/** Replaces each `{field}` of a template by its value; empty if every value is empty. */
function fillTemplate(template: string, record: object): string {
  let hasValue = false;
  const text = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = ownValue(record as Readonly<Record<string, unknown>>, field) ?? "";
    hasValue ||= value !== "";
    return String(value);
  });
  return hasValue ? text.trim() : "";
}
