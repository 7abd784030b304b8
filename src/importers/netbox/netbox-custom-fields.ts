// The custom fields of a NetBox: their definitions, and what an object has of them, in the types that netledger has.

import { FIELD_CHOICES_MAX } from "../../base/custom-field-limits.ts";
import { ownValue } from "../../base/fields.ts";
import type { FieldKind, FieldType, FieldValue } from "../../resources/custom-fields/field-type.ts";
import { asObject, asText, type ForeignObject, idOf, listOf, nameOf } from "../object-fields.ts";
import type { CustomValues, Origin, WantedField } from "../wanted.ts";
import type { NetboxApi } from "./netbox-api.ts";
import { choiceOf } from "./netbox-fields.ts";

/** By the types of objects that a field is for; of others there is nothing that could have it. */
const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ["dcim.device", "host"],
  ["virtualization.virtualmachine", "host"],
  ["dcim.interface", "if_entry"],
  ["virtualization.vminterface", "if_entry"],
  ["ipam.prefix", "subnet"],
  ["ipam.vlan", "vlan"],
  ["ipam.ipaddress", "ip_range"],
]);

/** All other types become texts. */
const TYPES: ReadonlyMap<string, FieldType> = new Map([
  ["integer", "number"],
  ["decimal", "number"],
  ["boolean", "boolean"],
  ["date", "date"],
  ["url", "url"],
  ["select", "choice"],
]);

const CHOICE_SETS = "/api/extras/custom-field-choice-sets/";

/** Labels by value. */
type Choices = ReadonlyMap<string, string>;

interface KnownField {
  readonly key: string;
  readonly kinds: readonly FieldKind[];
  readonly type: FieldType;
  readonly choices: Choices;
}

export class NetboxCustomFields {
  private readonly api: NetboxApi;
  private readonly known = new Map<string, KnownField>();
  private sets: Promise<Map<number, Choices | null>> | null = null;

  constructor(api: NetboxApi) {
    this.api = api;
  }

  /** @returns null for a field of nothing that could have it here; a sentence for one without a name @throws RemoteTrouble */
  async read(field: ForeignObject, origin: Origin): Promise<WantedField | string | null> {
    const name = asText(field.name);
    if (name === null) return "has no name";
    const types = listOf(field.object_types ?? field.content_types).map((type) => asText(type) ?? "");
    const kinds = [...new Set(types.flatMap((type) => KINDS.get(type) ?? []))];
    if (kinds.length === 0) return null;
    const told = choiceOf(field.type) ?? "";
    const choices = /select$/.test(told) ? await this.choicesOf(field) : null;
    const labels = [...new Set(choices?.values())];
    const isOpen = labels.length === 0 || labels.length > FIELD_CHOICES_MAX;
    const type = (told === "select" && isOpen ? null : TYPES.get(told)) ?? "text";
    const key = keyOf(name);
    this.known.set(name, { key, kinds, type, choices: choices ?? new Map() });
    return {
      ...origin,
      key,
      label: asText(field.label) ?? name,
      kinds,
      type,
      choices: type === "choice" ? labels : [],
      description: asText(field.description),
    };
  }

  /** What an object has of the fields that its kind has. */
  valuesOf(object: ForeignObject, kind: FieldKind): CustomValues {
    const values: Record<string, FieldValue> = {};
    const told = asObject(object.custom_fields);
    for (const [name, field] of told === null ? [] : this.known) {
      if (!field.kinds.includes(kind) || !Object.hasOwn(told as object, name)) continue;
      const value = convertedValue(field, ownValue(told as ForeignObject, name));
      if (value !== null) values[field.key] = value;
    }
    return values;
  }

  /** Null where they are not all told. */
  private async choicesOf(field: ForeignObject): Promise<Choices | null> {
    const set = idOf(field.choice_set);
    // Before NetBox 3.6 a field has them itself.
    if (set === null) return new Map(listOf(field.choices).flatMap(pairOf));
    this.sets ??= this.readSets();
    return (await this.sets).get(set) ?? null;
  }

  private async readSets(): Promise<Map<number, Choices | null>> {
    const sets = new Map<number, Choices | null>();
    for await (const page of this.api.heldPages(CHOICE_SETS)) {
      for (const set of page) {
        const isWhole = choiceOf(set.base_choices) === null;
        sets.set(idOf(set) ?? 0, isWhole ? new Map(listOf(set.extra_choices).flatMap(pairOf)) : null);
      }
    }
    return sets;
  }
}

/** A choice as its value and its label, or as one text that is both. */
function pairOf(choice: unknown): Array<readonly [value: string, label: string]> {
  const [value, label] = Array.isArray(choice) ? [asText(choice[0]), asText(choice[1])] : [asText(choice), null];
  return value === null ? [] : [[value, label ?? value]];
}

/** What it is called here: lower-case letters, digits and underscores, a letter first. */
function keyOf(name: string): string {
  const plain = name.toLowerCase();
  return /^[a-z]/.test(plain) ? plain : `f_${plain}`;
}

/** Null for nothing. What is not of the type is refused as it is. */
function convertedValue({ type, choices }: KnownField, value: unknown): FieldValue | null {
  if (value === null || value === undefined || value === "") return null;
  if (type === "boolean" && typeof value === "boolean") return value;
  if (type === "number") {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
  }
  return textOfValue(value, choices);
}

function textOfValue(value: unknown, choices: Choices): string | null {
  if (typeof value === "string") return choices.get(value) ?? value;
  if (Array.isArray(value)) {
    const texts = value.flatMap((each) => textOfValue(each, choices) ?? []);
    return texts.length === 0 ? null : texts.join(", ");
  }
  const object = asObject(value);
  // A choice with its label, or another object.
  return (object === null ? null : (asText(object.label) ?? nameOf(object))) ?? JSON.stringify(value);
}
