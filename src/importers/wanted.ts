// What another product says there is, in netledger's words, whichever product said it. A value that is null is not
// said: nothing is cleared for it.

import type { FieldKind, FieldType, FieldValue } from "../resources/custom-fields/field-type.ts";
import type { RangePurpose } from "../resources/ip-ranges/range-purpose.ts";
import type { Color } from "../resources/tags/color.ts";
import type { BroughtKind } from "./plan.ts";

/** Of an object there: where it is, for people, and the id that its record gets. */
export interface Origin {
  readonly id: string;
  readonly url: string;
}

/** A network by the id of its origin; null for none: the default network. */
export type NetworkPlace = string | null;

/** Values of custom fields, by key. */
export type CustomValues = Readonly<Record<string, FieldValue>>;

/** A custom field. */
export interface WantedField extends Origin {
  readonly key: string;
  readonly label: string;
  readonly kinds: readonly FieldKind[];
  readonly type: FieldType;
  readonly choices: readonly string[];
  readonly description: string | null;
}

export interface WantedTag extends Origin {
  readonly name: string;
  readonly color: Color;
  readonly description: string | null;
}

export interface WantedNetwork extends Origin {
  readonly name: string;
  readonly description: string | null;
  /** By name, as everywhere. */
  readonly tags: readonly string[];
}

/** As something else names it. */
export interface VlanName {
  readonly url: string;
  readonly number: number;
  readonly name: string | null;
}

export interface WantedVlan extends Origin, VlanName {
  readonly network: NetworkPlace;
  readonly description: string | null;
  readonly custom: CustomValues;
}

export interface WantedSubnet extends Origin {
  readonly network: NetworkPlace;
  readonly cidr: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly vlan: VlanName | null;
  readonly tags: readonly string[];
  readonly custom: CustomValues;
}

export interface WantedInterface extends Origin {
  readonly if_index: number;
  readonly name: string;
  readonly alias: string | null;
  readonly if_type: number | null;
  readonly speed_bps: number | null;
  /** Up is what it is where nobody says anything. */
  readonly admin_status: "Up" | "Down";
  readonly mac_address: string | null;
  readonly native_vlan: VlanName | null;
  readonly vlans: readonly VlanName[];
  readonly custom: CustomValues;
}

export interface WantedAddress extends Origin {
  readonly ip_address: string;
  /** Of the prefix that it brings along where no subnet has it; null for none. */
  readonly prefixLength: number | null;
  readonly name: string | null;
  readonly mac_address: string | null;
  /** The id of the interface's origin. */
  readonly interfaceId: string | null;
}

export interface WantedHost extends Origin {
  readonly network: NetworkPlace;
  readonly name: string;
  readonly hostname: string | null;
  readonly description: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly serial_number: string | null;
  readonly asset_tag: string | null;
  readonly sys_location: string | null;
  readonly tags: readonly string[];
  readonly interfaces: readonly WantedInterface[];
  readonly addresses: readonly WantedAddress[];
  readonly custom: CustomValues;
}

/** Addresses of no host. */
export interface WantedRange extends Origin {
  readonly network: NetworkPlace;
  readonly first: string;
  readonly last: string;
  readonly prefixLength: number | null;
  readonly purpose: RangePurpose;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly custom: CustomValues;
}

/** An object that cannot be taken, and why. */
export interface Refused {
  readonly url: string;
  readonly refused: string;
  /** Where it is not of the list's own: a part of a host. */
  readonly kind?: BroughtKind;
}

export function isRefused<T extends object>(item: T | Refused): item is Refused {
  return "refused" in item;
}

/** A few of them at a time, however many there are. */
export type Batches<T> = AsyncIterable<ReadonlyArray<T | Refused>>;

/** Another product that is read. Its lists are asked for once each, in this order. */
export interface BroughtSource {
  /** With its version where it tells it: `NetBox 4.1.3`. */
  readonly title: string;
  /** What all that is brought from it has as its reason, whatever more is said. */
  readonly reason: string;
  /** What it has and this does not bring. */
  readonly leftOut: readonly string[];
  /** Of what is made for an object of it in several networks. */
  derivedId(url: string, detail: string): string;
  tags(): Batches<WantedTag>;
  fields(): Batches<WantedField>;
  networks(): Batches<WantedNetwork>;
  vlans(): Batches<WantedVlan>;
  subnets(): Batches<WantedSubnet>;
  hosts(): Batches<WantedHost>;
  ranges(): Batches<WantedRange>;
}
