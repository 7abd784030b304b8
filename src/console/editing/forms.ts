// The kinds that have a form: which of the fields that the API takes are in it, in which order, and which are not.

import { CUSTOM_LIMITS, FORMS } from "#forms";
import { type DataOf, read } from "../api/client.ts";
import { type EditedKind, operationOn } from "../kinds/kinds.ts";
import type { FormField } from "./field.ts";

interface Form {
  /** The fields in their order. */
  readonly shown: readonly string[];
  /** Those that a new record has before them: where it belongs, which does not change. */
  readonly placed: readonly string[];
}

const FORM_OF: Readonly<Record<EditedKind, Form>> = {
  network: {
    placed: [],
    shown: ["name", "description", "stale_after_hours", "tags"],
  },
  subnet: {
    placed: ["network_id"],
    shown: ["cidr", "name", "description", "subnet_type", "vlan_id", "tags", "accepts_credentials"],
  },
  ip_range: {
    placed: ["network_id"],
    shown: ["first", "last", "purpose", "description", "tags"],
  },
  vlan: {
    placed: ["network_id"],
    shown: ["number", "name", "description"],
  },
  host: {
    placed: ["network_id"],
    shown: [
      "name",
      "hostname",
      "description",
      "tags",
      "manufacturer",
      "model",
      "serial_number",
      "asset_tag",
      "management_url",
      "sys_name",
      "sys_descr",
      "sys_location",
      "sys_contact",
      "sys_object_id",
      "hidden",
    ],
  },
  ip_address: {
    placed: ["host_id"],
    shown: ["ip_address", "mac_address", "name", "subnet_id"],
  },
  port: {
    placed: ["host_id"],
    shown: ["number", "protocol"],
  },
  service: {
    placed: ["host_id"],
    shown: ["name", "service_definition", "tags"],
  },
  if_entry: {
    placed: ["host_id"],
    shown: [
      "if_name",
      "if_alias",
      "if_descr",
      "if_index",
      "if_type",
      "admin_status",
      "oper_status",
      "speed_bps",
      "mac_address",
      "ip_address_id",
      "native_vlan_id",
      "vlan_ids",
    ],
  },
  schedule: {
    placed: ["network_id"],
    shown: ["name", "kind", "cron", "timezone", "targets", "is_enabled"],
  },
  tag: {
    placed: [],
    shown: ["name", "color", "description", "is_application"],
  },
  custom_field: {
    placed: [],
    shown: ["key", "label", "kinds", "type", "choices", "required", "default", "description"],
  },
  marker: {
    placed: [],
    shown: ["name", "at", "network_id", "description"],
  },
};

/** All fields that the API takes of a record that is there, or of a new one. */
export function allFieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  return FORMS[operationOn(isNew ? "create" : "update", kind)];
}

/** Those of the form, in its order. */
export function fieldsOf(kind: EditedKind, isNew: boolean): readonly FormField[] {
  const all = new Map(allFieldsOf(kind, isNew).map((field) => [field.name, field]));
  const { placed, shown } = FORM_OF[kind];
  return [...(isNew ? placed : []), ...shown].map((name) => all.get(name) as FormField);
}

/** More than a kind can have. */
const DEFINITIONS_MAX = 1_000;

type Definition = DataOf<"/api/v1/custom-fields">[number];
type DefinedKind = Definition["kinds"][number];

/** Kinds that have custom fields. */
const DEFINED_KINDS: readonly string[] = [
  "host",
  "subnet",
  "vlan",
  "if_entry",
  "service",
  "ip_range",
] satisfies DefinedKind[];

/** What the organization has added to a kind. @throws Refusal */
export async function definitionsOf(kind: EditedKind): Promise<readonly Definition[]> {
  if (!DEFINED_KINDS.includes(kind)) return [];
  const { data } = await read("/api/v1/custom-fields", { query: { limit: DEFINITIONS_MAX } }).load();
  return data.filter(({ kinds }) => (kinds as readonly string[]).includes(kind));
}

export function customField({ key, label, type, choices, required, description }: Definition): FormField {
  const types = {
    text: "text",
    url: "text",
    number: "number",
    boolean: "flag",
    date: "date",
    choice: "choice",
  } as const;
  return {
    name: `custom_fields.${key}`,
    label,
    type: types[type],
    isNullable: !required,
    isRequired: false,
    ...(type === "choice" ? { choices } : {}),
    ...(type === "text" || type === "url" ? { maxLength: CUSTOM_LIMITS[type] } : {}),
    ...(description ? { description } : {}),
  };
}
