// phpIPAM custom fields, which are table columns: their definitions, and an object's values.

import { ownValue } from "../../base/fields.ts";
import type { FieldKind, FieldType, FieldValue } from "../../resources/custom-fields/field-type.ts";
import type { CustomValues, ImportedField, Refused } from "../imported-objects.ts";
import { asObject, asText, type ForeignObject } from "../object-fields.ts";
import { idOfUrl } from "../object-ids.ts";
import type { PhpipamApi } from "./phpipam-api.ts";

/** Lists whose objects may have custom fields, with the kind they become. */
const LISTS: ReadonlyArray<readonly [path: string, kind: FieldKind]> = [
  ["/subnets/custom_fields/", "subnet"],
  ["/vlan/custom_fields/", "vlan"],
  ["/devices/custom_fields/", "host"],
  ["/addresses/custom_fields/", "ip_range"],
];

interface KnownColumn {
  readonly key: string;
  readonly type: FieldType;
}

export class PhpipamCustomFields {
  private readonly api: PhpipamApi;
  /** By kind, then by name. */
  private readonly known = new Map<FieldKind, Map<string, KnownColumn>>();

  constructor(api: PhpipamApi) {
    this.api = api;
  }

  /** One field per key, for all kinds that have it. @throws RemoteError */
  async read(): Promise<Array<ImportedField | Refused>> {
    const found = new Map<string, ImportedField & { readonly kinds: FieldKind[] }>();
    const refused: Refused[] = [];
    for (const [path, kind] of LISTS) {
      for (const [name, column] of await this.api.columns(path)) {
        const [key, type] = [keyOfColumn(name), typeOfColumn(asText(column.type) ?? "")];
        const other = found.get(key);
        const url = this.api.urlOf(path);
        if (other !== undefined && other.type !== type) {
          refused.push({ url, refused: `${key} is of type ${other.type} at ${other.url}, and of type ${type} here` });
          continue;
        }
        const columns = this.known.get(kind) ?? new Map<string, KnownColumn>();
        this.known.set(kind, columns.set(name, { key, type }));
        if (other !== undefined) {
          if (!other.kinds.includes(kind)) other.kinds.push(kind);
          continue;
        }
        found.set(key, {
          id: idOfUrl(`${this.api.identityOf("/custom_fields/")}${key}/`),
          url,
          key,
          label: name.replace(PREFIX, ""),
          kinds: [kind],
          type,
          choices: [],
          description: asText(column.Comment),
        });
      }
    }
    return [...refused, ...found.values()];
  }

  /** Returns an object's values of the fields of its kind: top-level or nested, depending on the app's settings. */
  valuesOf(object: ForeignObject, kind: FieldKind): CustomValues {
    const nested = asObject(object.custom_fields) ?? {};
    const values: Record<string, FieldValue> = {};
    for (const [name, { key, type }] of this.known.get(kind) ?? []) {
      const raw = Object.hasOwn(nested, name) ? ownValue(nested, name) : ownValue(object, name);
      const value = columnValue(type, raw);
      if (value !== null) values[key] = value;
    }
    return values;
  }
}

const PREFIX = /^custom_/;

/** Converts a name to a key: lower-case letters, digits and underscores, a letter first. */
function keyOfColumn(name: string): string {
  const normalized = name
    .replace(PREFIX, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "_");
  return /^[a-z]/.test(normalized) ? normalized : `f_${normalized}`;
}

/** By database column type: `varchar(256)`. */
function typeOfColumn(type: string): FieldType {
  if (/^(tinyint\(1\)|bool)/i.test(type)) return "boolean";
  if (/^(tiny|small|medium|big)?int|^(float|double|decimal)/i.test(type)) return "number";
  return /^date$/i.test(type) ? "date" : "text";
}

/** Null if empty. A value of the wrong type is passed on unchanged, to be refused. */
function columnValue(type: FieldType, value: unknown): FieldValue | null {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : asText(value);
  if (text === null) return null;
  if (type === "boolean" && /^(0|1|true|false)$/.test(text)) return text === "1" || text === "true";
  if (type === "number" && Number.isFinite(Number(text))) return Number(text);
  return text;
}
