// NetBox custom fields: their definitions, and an object's values converted to netledger's types.

import { FIELD_CHOICES_MAX } from "../../base/custom-field-limits.ts";
import { ownValue } from "../../base/fields.ts";
import type { FieldKind, FieldType, FieldValue } from "../../resources/custom-fields/field-type.ts";
import type { CustomValues, ImportedField, Origin } from "../imported-objects.ts";
import { asObject, asText, type ForeignObject, idOf, listOf, nameOf } from "../object-fields.ts";
import type { NetboxApi } from "./netbox-api.ts";
import { choiceOf } from "./netbox-fields.ts";

/** Kinds by NetBox object type; other types have no counterpart. */
const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ["dcim.device", "host"],
  ["virtualization.virtualmachine", "host"],
  ["dcim.interface", "if_entry"],
  ["virtualization.vminterface", "if_entry"],
  ["ipam.prefix", "subnet"],
  ["ipam.vlan", "vlan"],
  ["ipam.ipaddress", "ip_range"],
]);

/** All other types become text. */
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

  /** @returns null if no kind here can have the field; a sentence if it has no name @throws RemoteError */
  async read(field: ForeignObject, origin: Origin): Promise<ImportedField | string | null> {
    const name = asText(field.name);
    if (name === null) return "has no name";
    const types = listOf(field.object_types ?? field.content_types).map((type) => asText(type) ?? "");
    const kinds = [...new Set(types.flatMap((type) => KINDS.get(type) ?? []))];
    if (kinds.length === 0) return null;
    const given = choiceOf(field.type) ?? "";
    const choices = /select$/.test(given) ? await this.choicesOf(field) : null;
    const labels = [...new Set(choices?.values())];
    const isOpen = labels.length === 0 || labels.length > FIELD_CHOICES_MAX;
    const type = (given === "select" && isOpen ? null : TYPES.get(given)) ?? "text";
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

  /** Returns an object's values of the fields of its kind. */
  valuesOf(object: ForeignObject, kind: FieldKind): CustomValues {
    const values: Record<string, FieldValue> = {};
    const given = asObject(object.custom_fields);
    for (const [name, field] of given === null ? [] : this.known) {
      if (!field.kinds.includes(kind) || !Object.hasOwn(given as object, name)) continue;
      const value = convertedValue(field, ownValue(given as ForeignObject, name));
      if (value !== null) values[field.key] = value;
    }
    return values;
  }

  /** Returns null if not all choices are listed. */
  private async choicesOf(field: ForeignObject): Promise<Choices | null> {
    const set = idOf(field.choice_set);
    // Before NetBox 3.6, the field itself lists its choices.
    if (set === null) return new Map(listOf(field.choices).flatMap(pairOf));
    this.sets ??= this.readSets();
    return (await this.sets).get(set) ?? null;
  }

  private async readSets(): Promise<Map<number, Choices | null>> {
    const sets = new Map<number, Choices | null>();
    for await (const page of this.api.boundedPages(CHOICE_SETS)) {
      for (const set of page) {
        const isComplete = choiceOf(set.base_choices) === null;
        sets.set(idOf(set) ?? 0, isComplete ? new Map(listOf(set.extra_choices).flatMap(pairOf)) : null);
      }
    }
    return sets;
  }
}

/** A choice is a pair of value and label, or one text for both. */
function pairOf(choice: unknown): Array<readonly [value: string, label: string]> {
  const [value, label] = Array.isArray(choice) ? [asText(choice[0]), asText(choice[1])] : [asText(choice), null];
  return value === null ? [] : [[value, label ?? value]];
}

/** Converts a name to a key: lower-case letters, digits and underscores, a letter first. */
function keyOf(name: string): string {
  const lowercased = name.toLowerCase();
  return /^[a-z]/.test(lowercased) ? lowercased : `f_${lowercased}`;
}

/** Null if empty. A value of the wrong type is passed on unchanged, to be refused. */
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
