// Filterable fields of lists whose rows are not records (scans, findings, transactions), derived from the row schema.
// Rows have no versions and no search words.

import type { TObject, TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldName } from "../base/custom-field-names.ts";
import { type Entity, oneEntity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { nearestName } from "../base/nearest-name.ts";
import type { FieldPath, FieldStep } from "../db/reading/condition.ts";
import { type CustomFieldsOf, NO_CUSTOM_FIELDS } from "./custom-fields-at.ts";
import { excerpt, FilterProblem } from "./filter/grammar.ts";
import { type FieldOfKind, itemOf, plainField, propertiesOf, valueTypeOf } from "./filter/schema-fields.ts";
import { type Filterable, fieldsOf, type ResolvedField } from "./filter-fields.ts";

/** A list whose rows are not records. */
export interface RowList extends Entity {
  /** Path of the list, as in `RESOURCES`; with a leading slash if it is not below `/api/v1`. */
  readonly path: string;
  /** Schema of one row. */
  readonly row: TObject;
  /** By path, the possible keys of an object with dynamic keys: counts by type of finding. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** By path, fields that filters reject, with the reason. */
  readonly unfilterable?: Readonly<Record<string, string>>;
  /** Kind of the record in `record`, for lists of versions. */
  readonly recordOf?: string;
  /** By name, the field with a record's id, and the kind of that record. */
  readonly references?: Readonly<Record<string, { readonly field: string; readonly kindName: string }>>;
}

/** Path to the record's custom fields in a version. */
const RECORD_FIELDS: readonly FieldStep[] = ["record", CUSTOM_FIELDS].map((name) => ({ name, isMany: false }));

/** Filterable fields of a row. */
export class RowFields implements Filterable {
  readonly entity: RowList;
  readonly isSearched = false;
  readonly hasVersions = false;
  private custom: CustomFieldsOf = NO_CUSTOM_FIELDS;

  constructor(list: RowList) {
    this.entity = list;
  }

  /** Returns a copy with the custom fields of the record in each version. */
  with(custom: CustomFieldsOf): RowFields {
    const copy = Object.create(this) as RowFields;
    copy.custom = custom;
    return copy;
  }

  resolve(segments: readonly string[], position: number): ResolvedField {
    const { references, row } = this.entity;
    if (segments.length > 2 && segments[0] === "record" && segments[1] === CUSTOM_FIELDS)
      return this.customField(segments, position);
    const [name = "", ...rest] = segments;
    const reference = ownValue(references, name);
    if (reference !== undefined && ownValue(row.properties as Readonly<Record<string, TSchema>>, name) === undefined) {
      const fields = fieldsOf(reference.kindName);
      return {
        type: "names",
        places: [{ source: "members", steps: [{ name: reference.field, isMany: false }] }],
        kind: fields.kind,
        rest: rest.length === 0 ? null : fields.resolve(rest, position, 1),
      };
    }
    const steps: FieldStep[] = [];
    let schema: TSchema = row;
    for (const [index, segment] of segments.entries()) {
      const before = segments.slice(0, index);
      const inner = ownValue(this.within(schema, before), segment);
      if (inner === undefined) throw this.unknown(segments, before, schema, position);
      const reason = ownValue(this.entity.unfilterable, [...before, segment].join("."));
      if (reason !== undefined)
        throw new FilterProblem(position, `must not use ${segments.join(".")}, which ${reason}`);
      const { isMany, item } = itemOf(inner);
      steps.push({ name: segment, isMany });
      schema = item;
    }
    const place: FieldPath = { steps, source: "members" };
    const value = valueTypeOf(schema, segments.at(-1) as string);
    return value === null ? { type: "object", place } : { type: "value", place, value, wordIndex: null, within: null };
  }

  private customField(segments: readonly string[], position: number): ResolvedField {
    const key = segments.slice(2).join(".");
    const fields = this.customFields();
    const field = fields.get(key);
    if (field === undefined) {
      const nearest = nearestName(key, fields.keys());
      const suggestion = nearest === null ? "" : ` (did you mean \`record.${customFieldName(nearest)}\`?)`;
      throw new FilterProblem(
        position,
        `names \`${excerpt(key)}\`, which is not a custom field of ${oneEntity(this.entity)}${suggestion}`,
      );
    }
    const place: FieldPath = { steps: [...RECORD_FIELDS, { name: key, isMany: false }], source: "members" };
    return { type: "value", place, value: field.value, wordIndex: null, within: null, isCustom: true };
  }

  private customFields() {
    return this.custom(this.entity.recordOf ?? "");
  }

  names(): string[] {
    return [...Object.keys(this.entity.row.properties), ...Object.keys(this.entity.references ?? {})];
  }

  list(): FieldOfKind[] {
    const own = Object.entries(this.entity.row.properties as Readonly<Record<string, TSchema>>);
    const references = Object.entries(this.entity.references ?? {}).map(
      ([name, { kindName }]): FieldOfKind => ({
        name,
        value: null,
        isMany: false,
        refersTo: kindName,
        isVersioned: false,
        description: null,
      }),
    );
    const custom = [...this.customFields()].map(
      ([key, { value, description }]): FieldOfKind => ({
        name: `record.${customFieldName(key)}`,
        value,
        isMany: false,
        refersTo: null,
        isVersioned: false,
        description,
      }),
    );
    return [...own.flatMap(([name, schema]) => this.withInner([name], schema)), ...custom, ...references];
  }

  private withInner(path: readonly string[], schema: TSchema): FieldOfKind[] {
    const name = path.join(".");
    if (ownValue(this.entity.unfilterable, name) !== undefined) return [];
    const field = { ...plainField(name, schema), isVersioned: false };
    const inner = Object.entries(this.within(itemOf(schema).item, path)).flatMap(([each, innerSchema]) =>
      this.withInner([...path, each], innerSchema),
    );
    return [field, ...inner.map((each) => ({ ...each, isMany: each.isMany || field.isMany }))];
  }

  /** Fields at a path; for an object with dynamic keys, its possible keys. */
  private within(schema: TSchema, path: readonly string[]): Readonly<Record<string, TSchema>> {
    const [keyed] = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>);
    if (keyed === undefined) return propertiesOf(schema);
    return Object.fromEntries((ownValue(this.entity.keys, path.join(".")) ?? []).map((key) => [key, keyed]));
  }

  private unknown(
    segments: readonly string[],
    before: readonly string[],
    schema: TSchema,
    position: number,
  ): FilterProblem {
    const name = segments[before.length] as string;
    const names = before.length === 0 ? this.names() : Object.keys(this.within(schema, before));
    const rest = segments.slice(before.length + 1);
    const nearest = nearestName(name, names);
    const suggestion = nearest === null ? "" : ` (did you mean \`${[...before, nearest, ...rest].join(".")}\`?)`;
    return new FilterProblem(
      position,
      `names \`${excerpt([...before, name].join("."))}\`, which is not a field of ${oneEntity(this.entity)}${suggestion}`,
    );
  }
}
