// Imported objects in netledger's terms, independent of the source product. Null means unspecified, and clears nothing.

import type { FieldKind, FieldType, FieldValue } from "../resources/custom-fields/field-type.ts";
import type { RangePurpose } from "../resources/ip-ranges/range-purpose.ts";
import type { Color } from "../resources/tags/color.ts";
import type { ImportKind } from "./plan.ts";

/** Source object: its user-visible URL, and the ID of its record. */
export interface Origin {
  readonly id: string;
  readonly url: string;
}

/** A network by the ID of its origin; null for the default network. */
export type NetworkRef = string | null;

/** Values of custom fields, by key. */
export type CustomValues = Readonly<Record<string, FieldValue>>;

/** A custom field. */
export interface ImportedField extends Origin {
  readonly key: string;
  readonly label: string;
  readonly kinds: readonly FieldKind[];
  readonly type: FieldType;
  readonly choices: readonly string[];
  readonly description: string | null;
}

export interface ImportedTag extends Origin {
  readonly name: string;
  readonly color: Color;
  readonly description: string | null;
}

export interface ImportedNetwork extends Origin {
  readonly name: string;
  readonly description: string | null;
  /** By name, as in all kinds. */
  readonly tags: readonly string[];
}

/** A VLAN as referenced by other objects. */
export interface VlanName {
  readonly url: string;
  readonly number: number;
  readonly name: string | null;
}

export interface ImportedVlan extends Origin, VlanName {
  readonly network: NetworkRef;
  readonly description: string | null;
  readonly custom: CustomValues;
}

export interface ImportedSubnet extends Origin {
  readonly network: NetworkRef;
  readonly cidr: string;
  /** Container: address space of no single network; null if the source does not say. */
  readonly type: "Container" | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly vlan: VlanName | null;
  readonly tags: readonly string[];
  readonly custom: CustomValues;
}

export interface ImportedInterface extends Origin {
  readonly if_index: number;
  readonly name: string;
  readonly alias: string | null;
  readonly if_type: number | null;
  readonly speed_bps: number | null;
  /** Up is the default. */
  readonly admin_status: "Up" | "Down";
  readonly mac_address: string | null;
  readonly native_vlan: VlanName | null;
  readonly vlans: readonly VlanName[];
  readonly custom: CustomValues;
}

export interface ImportedAddress extends Origin {
  readonly ip_address: string;
  /** Length of the prefix to create if no subnet contains the address; null if none. */
  readonly prefixLength: number | null;
  readonly name: string | null;
  readonly mac_address: string | null;
  /** ID of the interface's origin. */
  readonly interfaceId: string | null;
}

export interface ImportedHost extends Origin {
  readonly network: NetworkRef;
  readonly name: string;
  readonly hostname: string | null;
  readonly description: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly serial_number: string | null;
  readonly asset_tag: string | null;
  readonly sys_location: string | null;
  readonly tags: readonly string[];
  readonly interfaces: readonly ImportedInterface[];
  readonly addresses: readonly ImportedAddress[];
  readonly custom: CustomValues;
}

/** Addresses without a host. */
export interface ImportedRange extends Origin {
  readonly network: NetworkRef;
  readonly first: string;
  readonly last: string;
  readonly prefixLength: number | null;
  readonly purpose: RangePurpose;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly custom: CustomValues;
}

/** An object that cannot be imported, with the reason. */
export interface Refused {
  readonly url: string;
  readonly refused: string;
  /** Set if it differs from the list's kind: a part of a host. */
  readonly kind?: ImportKind;
}

export function isRefused<T extends object>(item: T | Refused): item is Refused {
  return "refused" in item;
}

/** Small batches of a list of any length. */
export type Batches<T> = AsyncIterable<ReadonlyArray<T | Refused>>;

/** A source product. Its lists are requested once each, in this order. */
export interface ImportSource {
  /** With its version if known: `NetBox 4.1.3`. */
  readonly title: string;
  /** Change reason of everything imported from it; more text may follow. */
  readonly reason: string;
  /** Data of the source that is not imported. */
  readonly leftOut: readonly string[];
  /** ID of a record created for one source object in several networks. */
  derivedId(url: string, detail: string): string;
  tags(): Batches<ImportedTag>;
  fields(): Batches<ImportedField>;
  networks(): Batches<ImportedNetwork>;
  vlans(): Batches<ImportedVlan>;
  subnets(): Batches<ImportedSubnet>;
  hosts(): Batches<ImportedHost>;
  ranges(): Batches<ImportedRange>;
}
