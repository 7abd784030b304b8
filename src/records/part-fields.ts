// Response fields that are not stored with their record: lists of records of other kinds that refer to it.

import type { TSchema } from "@sinclair/typebox";
import type { AnyKind } from "../db/kind.ts";
import type { Condition } from "../db/reading/condition.ts";
import { credentialAssignmentKind } from "../resources/credential-assignments/credential-assignment.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { neighborEntry } from "../resources/if-entries/link-index-entries.ts";
import { MacText, Uuid } from "../schemas/schemas.ts";
import { resourceOf } from "./resources.ts";

/** A response field that lists records of another kind. */
export interface PartField {
  readonly kind: AnyKind;
  /** The part's field with the id of the owner. */
  readonly by: string;
  /** Filterable fields of a part without a response schema. */
  readonly items?: Readonly<Record<string, TSchema>>;
  /** Example part, whose word-index entries show the settings of each field. */
  readonly example?: object;
  /** For a list of values instead of objects: the part's field with the value. */
  readonly value?: string;
  /** Restricts the parts in the list. */
  readonly where?: Condition;
}

const ofHost: Condition = { type: "present", path: { source: "members", steps: [{ name: "host_id", isMany: false }] } };
const ofNetwork: Condition = { type: "not", part: ofHost };
const assignmentPart = {
  kind: credentialAssignmentKind,
  items: { credential_id: Uuid, network_id: Uuid, host_id: Uuid },
};

/** By kind name, then by field. */
export const PART_FIELDS: Readonly<Record<string, Readonly<Record<string, PartField>>>> = {
  host: {
    ip_addresses: { kind: resourceOf("ip_address").kind, by: "host_id" },
    interfaces: { kind: resourceOf("if_entry").kind, by: "host_id" },
    ports: { kind: resourceOf("port").kind, by: "host_id" },
    services: { kind: resourceOf("service").kind, by: "host_id" },
    credential_assignments: { ...assignmentPart, by: "host_id" },
  },
  service: { bindings: { kind: resourceOf("binding").kind, by: "service_id" } },
  if_entry: {
    fdb_macs: {
      kind: fdbEntryKind,
      by: "if_entry_id",
      items: { mac_address: MacText },
      example: { mac_address: "00:1b:21:aa:bb:cc" },
      value: "mac_address",
    },
  },
  network: { credential_ids: { ...assignmentPart, by: "network_id", value: "credential_id", where: ofNetwork } },
  credential: {
    assigned_network_ids: { ...assignmentPart, by: "credential_id", value: "network_id", where: ofNetwork },
    host_assignments: { ...assignmentPart, by: "credential_id", where: ofHost },
  },
};

/** Additional references under a separate name: a port's VLAN, tagged or untagged. */
export const COMBINED_REFERENCES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  if_entry: { vlan: ["native_vlan_id", "vlan_ids"] },
};

/**
 * By kind name, fields with a `{type, id}` that refers to an interface entry or a host: after them, `interface` means
 * the entry, `host` the device, and `name` the device's name.
 */
export const FAR_ENDS: Readonly<Record<string, readonly string[]>> = {
  if_entry: ["neighbor", "more_neighbors.neighbor"],
};
/** Full-text entry of records that refer to an id. */
export const farEndEntry = neighborEntry;

/** Fields that filters reject, with the reason, by kind name: fields computed for display, secrets and masks. */
export const UNFILTERABLE_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  host: { consolidated_into: "exists only in a host's last version" },
  schedule: { next_run_at: "is computed when the schedule is shown" },
  api_key: {
    key: "masks a secret",
    network_ids: "is computed when the key is shown: a key may follow its user",
  },
  credential: {
    "credential_type.community": "is a secret",
    "credential_type.auth_password": "is a secret",
    "credential_type.priv_password": "is a secret",
  },
  custom_field: { default: "has a different type for each field" },
};
