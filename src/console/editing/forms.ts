// The kinds that have a form: which of the fields that the API takes are in it, in which order, and which are not.

import type { operations } from "#api";
import { FORMS } from "#forms";
import { type DataOf, type Read, read } from "../api/client.ts";
import type { FormField, Values } from "./field.ts";

export type EditedKind = "host" | "if_entry" | "subnet" | "vlan";

interface Form {
  readonly operation: keyof typeof FORMS & keyof operations;
  /** Of one record, below the origin. */
  readonly path: string;
  /** The list of it alone. */
  list(id: string): Read<readonly Values[]>;
  readonly shown: readonly string[];
}

const EDITED: Readonly<Record<EditedKind, Form>> = {
  host: {
    operation: "updateHost",
    path: "/api/v1/hosts/{id}",
    list: (id) => read("/api/v1/hosts", { query: { ids: [id], include_children: false } }),
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
  if_entry: {
    operation: "updateIfEntry",
    path: "/api/v1/if-entries/{id}",
    list: (id) => read("/api/v1/if-entries", { query: { ids: [id] } }),
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
      "native_vlan_id",
      "vlan_ids",
    ],
  },
  subnet: {
    operation: "updateSubnet",
    path: "/api/v1/subnets/{id}",
    list: (id) => read("/api/v1/subnets", { query: { ids: [id] } }),
    shown: ["cidr", "name", "description", "subnet_type", "vlan_id", "tags", "accepts_credentials"],
  },
  vlan: {
    operation: "updateVlan",
    path: "/api/v1/vlans/{id}",
    list: (id) => read("/api/v1/vlans", { query: { ids: [id] } }),
    shown: ["number", "name", "description"],
  },
};

export function formOf(kind: EditedKind): Form {
  return EDITED[kind];
}

/** All fields that the API takes. */
export function allFieldsOf(kind: EditedKind): readonly FormField[] {
  return FORMS[EDITED[kind].operation];
}

/** Those of the form, in its order. */
export function fieldsOf(kind: EditedKind): readonly FormField[] {
  const all = new Map(allFieldsOf(kind).map((field) => [field.name, field]));
  return EDITED[kind].shown.map((name) => all.get(name) as FormField);
}

/** More than a kind can have. */
const DEFINITIONS_MAX = 1_000;

/** The fields that the organization has added to a kind. @throws Refusal */
export async function customFieldsOf(kind: EditedKind): Promise<readonly FormField[]> {
  const { data } = await read("/api/v1/custom-fields", { query: { limit: DEFINITIONS_MAX } }).load();
  return data.filter(({ kinds }) => kinds.includes(kind)).map(customField);
}

type Definition = DataOf<"/api/v1/custom-fields">[number];

function customField({ key, label, type, choices, required, description }: Definition): FormField {
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
    ...(description ? { description } : {}),
  };
}
