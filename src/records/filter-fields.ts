// Filterable fields of a kind, by wire name, derived from its response schema, references and parts.

import type { TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldName } from "../base/custom-field-names.ts";
import { type Entity, oneEntity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { FILTER_MAX_REFERENCES } from "../base/filter-limits.ts";
import { nearestName } from "../base/nearest-name.ts";
import type { AnyKind } from "../db/kind.ts";
import type { IndexedField } from "../db/name-entries.ts";
import type { Condition, FieldPath, FieldStep } from "../db/reading/condition.ts";
import type { ReachFields } from "../resources/compose.ts";
import { type CustomFieldsOf, NO_CUSTOM_FIELDS } from "./custom-fields-at.ts";
import { excerpt, FilterProblem } from "./filter/grammar.ts";
import {
  descriptionOf,
  type FieldOfKind,
  itemOf,
  plainField,
  propertiesOf,
  valueTypeOf,
} from "./filter/schema-fields.ts";
import type { ValueType } from "./filter/value-tests.ts";
import {
  COMBINED_REFERENCES,
  FAR_ENDS,
  farEndEntry,
  PART_FIELDS,
  type PartField,
  UNFILTERABLE_FIELDS,
} from "./part-fields.ts";
import { RESOURCES } from "./resources.ts";

/** Resolution of a field name in a filter. */
export type ResolvedField =
  | {
      readonly type: "value";
      readonly place: FieldPath;
      readonly value: ValueType;
      /** Word-index settings; null if not indexed. */
      readonly wordIndex: IndexedField | null;
      /** For a list of ids restricted to the caller's reach: the kind of the ids. */
      readonly within: AnyKind | null;
      /** Earlier values may have another type. */
      readonly isCustom?: true;
    }
  /** An object with its own fields; by itself it only supports the presence test. */
  | { readonly type: "object"; readonly place: FieldPath }
  /** A field, or the existence, of a record that the filtered record refers to. */
  | {
      readonly type: "names";
      readonly places: readonly FieldPath[];
      readonly kind: AnyKind;
      readonly rest: ResolvedField | null;
      /** See Condition. */
      readonly entryOf?: (id: string) => string;
    }
  /** Any of these: the field may refer to records of several kinds. */
  | { readonly type: "either"; readonly of: readonly ResolvedField[] }
  /** The same for records that refer to the filtered record. */
  | {
      readonly type: "named";
      readonly by: string;
      readonly kind: AnyKind;
      readonly where: Condition | null;
      readonly rest: ResolvedField | null;
    };

/** Filterable fields of a list, and the features of its filters. */
export interface Filterable {
  readonly entity: Entity;
  /** Whether filters may contain search words. */
  readonly isSearched: boolean;
  /** Whether there are versions for functions over time. */
  readonly hasVersions: boolean;
  /** @throws FilterProblem for an unknown name */
  resolve(segments: readonly string[], position: number): ResolvedField;
  names(): string[];
  list(): FieldOfKind[];
}

interface Reference {
  readonly places: readonly FieldPath[];
  readonly kindName: string;
}

/** Filterable fields of one kind. */
class Fields implements Filterable {
  readonly kind: AnyKind;
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly references: ReadonlyMap<string, Reference>;
  private readonly reachFields: ReachFields;
  private readonly indexedFields: ReadonlyMap<string, IndexedField>;
  private custom: CustomFieldsOf = NO_CUSTOM_FIELDS;

  /**
   * @param example a record of the kind, whose word-index entries show the settings of each field
   * @throws Error for a field restricted by reach that would give access to more
   */
  constructor(
    kind: AnyKind,
    properties: Readonly<Record<string, TSchema>>,
    reachFields: ReachFields = {},
    example: object | null = null,
  ) {
    this.kind = kind;
    this.indexedFields = new Map(
      example === null ? [] : kind.indexedNames?.(example).map((each): [string, IndexedField] => [each.field, each]),
    );
    this.properties = properties;
    this.reachFields = reachFields;
    for (const field of Object.keys(reachFields)) {
      const isFilterable = ownValue(ownValue(UNFILTERABLE_FIELDS, kind.name), field) === undefined;
      const isPart = ownValue(ownValue(PART_FIELDS, kind.name), field) !== undefined;
      if (
        isFilterable &&
        !isPart &&
        valueTypeOf(itemOf(ownValue(properties, field) as TSchema).item, field)?.name !== "uuid"
      )
        throw new Error(`filters: ${kind.name}.${field} depends on the caller's reach, and must contain ids`);
    }
    this.references = referencesOf(kind, properties);
  }

  get entity(): Entity {
    return this.kind;
  }

  /** Returns a copy with custom fields, also for referenced records. */
  with(custom: CustomFieldsOf): Fields {
    const copy = Object.create(this) as Fields;
    copy.custom = custom;
    return copy;
  }

  get isSearched(): boolean {
    return this.kind.search !== undefined || this.kind.indexedNames !== undefined;
  }

  readonly hasVersions = true;

  resolve(segments: readonly string[], position: number, hops = 0): ResolvedField {
    const [name = "", ...rest] = segments;
    const farEnd = this.farEnd(segments, position, hops);
    if (farEnd !== null) return farEnd;
    const part = ownValue(ownValue(PART_FIELDS, this.kind.name), name);
    if (part !== undefined) {
      const { kind, by, value, where = null } = part;
      // A list of values does not count as a reference.
      const following =
        value === undefined
          ? this.following(kind, rest, position, hops, part)
          : this.following(kind, [value, ...rest], position, hops - 1, part);
      return { type: "named", by, kind, where, rest: following };
    }
    const schema = ownValue(this.properties, name);
    const reference = this.references.get(name);
    if (reference !== undefined && (schema === undefined || rest.length > 0))
      return {
        type: "names",
        places: reference.places,
        kind: kindNamed(reference.kindName),
        rest: this.following(kindNamed(reference.kindName), rest, position, hops),
      };
    if (schema === undefined) throw this.unknown(segments, name, position);
    return name === CUSTOM_FIELDS ? this.customField(segments, position) : this.value(segments, schema, position);
  }

  /** `custom_fields.rack`; by itself it only supports the presence test. */
  private customField([name = "", key, ...rest]: readonly string[], position: number): ResolvedField {
    const lead: FieldStep = { name, isMany: false };
    if (key === undefined) return { type: "object", place: { steps: [lead], source: "members" } };
    const fields = this.custom(this.kind.name);
    const field = fields.get(key);
    if (field === undefined || rest.length > 0) {
      const nearest = nearestName(key, fields.keys());
      const suggestion = nearest === null ? "" : ` (did you mean \`${customFieldName(nearest)}\`?)`;
      throw new FilterProblem(
        position,
        `names \`${excerpt([key, ...rest].join("."))}\`, which is not a custom field of ${oneEntity(this.kind)}${suggestion}`,
      );
    }
    const place: FieldPath = { steps: [lead, { name: key, isMany: false }], source: "members" };
    // The word index contains text values.
    const isText = field.value.name === "text" || field.value.name === "enumeration";
    return {
      type: "value",
      place,
      value: field.value,
      wordIndex: isText ? { as: "Name" } : null,
      within: null,
      isCustom: true,
    };
  }

  /** Resolves fields behind a `{type, id}` that refers to an interface entry or a host. */
  private farEnd(segments: readonly string[], position: number, hops: number): ResolvedField | null {
    const path = (ownValue(FAR_ENDS, this.kind.name) ?? []).find((each) => segments.join(".").startsWith(`${each}.`));
    if (path === undefined) return null;
    const steps = path.split(".");
    const [target = "", ...rest] = segments.slice(steps.length);
    if (!FAR_END_NAMES.includes(target) || (target === "name" && rest.length > 0)) return null;
    const { place } = this.value(
      [...steps, "id"],
      ownValue(this.properties, steps[0] as string) as TSchema,
      position,
    ) as {
      readonly place: FieldPath;
    };
    const named = (kindName: string, following: readonly string[], before: number): ResolvedField => {
      const kind = kindNamed(kindName);
      const after = this.following(kind, following, position, before);
      return { type: "names", places: [place], kind, rest: after, entryOf: farEndEntry };
    };
    if (target === "interface") return named("if_entry", rest, hops);
    const ofHost = target === "name" ? ["name"] : rest;
    // The interface on the way to its device does not count as a reference in the filter.
    return { type: "either", of: [named("host", ofHost, hops), named("if_entry", ["host", ...ofHost], hops - 1)] };
  }

  private following(
    kind: AnyKind,
    rest: readonly string[],
    position: number,
    hops: number,
    { items, example }: Pick<PartField, "items" | "example"> = {},
  ): ResolvedField | null {
    if (rest.length === 0) return null;
    if (hops >= FILTER_MAX_REFERENCES)
      throw new FilterProblem(position, `must not follow more than ${FILTER_MAX_REFERENCES} references`);
    const fields = items === undefined ? fieldsOf(kind.name).with(this.custom) : new Fields(kind, items, {}, example);
    return fields.resolve(rest, position, hops + 1);
  }

  /** A field within the record itself. */
  private value(segments: readonly string[], first: TSchema, position: number): ResolvedField {
    const steps: FieldStep[] = [];
    let schema = first;
    for (const [index, name] of segments.entries()) {
      if (index > 0) schema = this.inner(schema, segments.slice(0, index), name, position);
      const reason = ownValue(ownValue(UNFILTERABLE_FIELDS, this.kind.name), segments.slice(0, index + 1).join("."));
      if (reason !== undefined)
        throw new FilterProblem(position, `must not use ${segments.join(".")}, which ${reason}`);
      const { isMany, item } = itemOf(schema);
      steps.push({ name, isMany });
      schema = item;
    }
    const [name = ""] = segments;
    const of =
      name === "valid_to" ? "end" : (this.kind.observed as readonly string[]).includes(name) ? "observed" : "members";
    const place: FieldPath = { steps, source: of };
    const value = valueTypeOf(schema, segments.at(-1) as string);
    const within = ownValue(this.reachFields, name) ?? null;
    const wordIndex = segments.length === 1 ? (this.indexedFields.get(name) ?? null) : null;
    return value === null ? { type: "object", place } : { type: "value", place, value, wordIndex, within };
  }

  private inner(schema: TSchema, before: readonly string[], name: string, position: number): TSchema {
    // `discovered` holds scan values that differ from manual ones, with the types of the record's own fields.
    const isOwnAgain = before.length === 1 && before[0] === "discovered";
    const properties = isOwnAgain ? this.properties : propertiesOf(schema);
    const inner = ownValue(properties, name);
    if (inner !== undefined) return inner;
    const isFarEnd = (ownValue(FAR_ENDS, this.kind.name) ?? []).includes(before.join("."));
    const nearest = nearestName(name, [...Object.keys(properties), ...(isFarEnd ? FAR_END_NAMES : [])]);
    const suggestion = nearest === null ? "" : ` (did you mean \`${[...before, nearest].join(".")}\`?)`;
    throw new FilterProblem(
      position,
      `names \`${excerpt([...before, name].join("."))}\`, which is not a field of ${oneEntity(this.kind)}${suggestion}`,
    );
  }

  private unknown(segments: readonly string[], name: string, position: number): FilterProblem {
    const [, ...rest] = segments;
    // The suggestion must have the remaining fields too: on a list of hosts, `host.name` means `name`, not
    // `hostname.name`.
    const isOwn = name === this.kind.name && this.names().includes(rest[0] ?? "");
    const nearest = nearestName(name, rest.length === 0 ? this.names() : this.leading());
    const meantSegments = isOwn ? rest : nearest === null ? [] : [nearest, ...rest];
    const suggestion = meantSegments.length === 0 ? "" : ` (did you mean \`${meantSegments.join(".")}\`?)`;
    return new FilterProblem(
      position,
      `names \`${excerpt(name)}\`, which is not a field of ${oneEntity(this.kind)}${suggestion}`,
    );
  }

  /** Names that may be followed by a dot and more fields. */
  private leading(): string[] {
    const isObject = (name: string) => {
      const schema = ownValue(this.properties, name);
      return schema !== undefined && Object.keys(propertiesOf(itemOf(schema).item)).length > 0;
    };
    return this.names().filter((name) => this.references.has(name) || isObject(name));
  }

  names(): string[] {
    return [...new Set([...Object.keys(this.properties), ...this.references.keys()])];
  }

  /** In response order, followed by references. */
  list(): FieldOfKind[] {
    const listed: FieldOfKind[] = [];
    const unfilterable = ownValue(UNFILTERABLE_FIELDS, this.kind.name) ?? {};
    for (const [name, schema] of Object.entries(this.properties)) {
      if (ownValue(unfilterable, name) !== undefined) continue;
      const part = ownValue(ownValue(PART_FIELDS, this.kind.name), name);
      if (part !== undefined) {
        const value =
          part.value === undefined
            ? null
            : valueTypeOf(itemOf(ownValue(part.items, part.value) as TSchema).item, part.value);
        listed.push({
          name,
          value,
          isMany: true,
          refersTo: part.items === undefined ? part.kind.name : null,
          isVersioned: false,
          description: descriptionOf(schema),
        });
        if (part.items !== undefined && part.value === undefined)
          for (const [inner, innerSchema] of Object.entries(part.items))
            listed.push({ ...plainField(`${name}.${inner}`, innerSchema), isMany: true, isVersioned: false });
        continue;
      }
      const refersTo = this.references.get(name)?.kindName ?? null;
      const isVersioned =
        name !== "valid_to" &&
        !(this.kind.observed as readonly string[]).includes(name) &&
        ownValue(this.reachFields, name) === undefined;
      for (const each of this.withInner(name, schema, unfilterable))
        listed.push({
          ...each,
          refersTo: each.refersTo ?? refersTo,
          isVersioned: isVersioned && each.isVersioned,
        });
    }
    for (const [key, { value, description }] of this.custom(this.kind.name))
      listed.push({
        name: customFieldName(key),
        value,
        isMany: false,
        refersTo: null,
        isVersioned: true,
        description,
      });
    for (const [name, { kindName, places }] of this.references) {
      if (ownValue(this.properties, name) !== undefined) continue;
      const isMany = places.length > 1 || places.some(({ steps }) => steps.some((step) => step.isMany));
      listed.push({ name, value: null, isMany, refersTo: kindName, isVersioned: false, description: null });
    }
    return listed;
  }

  private withInner(name: string, schema: TSchema, unfilterable: Readonly<Record<string, string>>): FieldOfKind[] {
    const field = plainField(name, schema);
    const farEnds = (ownValue(FAR_ENDS, this.kind.name) ?? []).includes(name) ? farEndFields(name) : [];
    const inner = Object.entries(propertiesOf(itemOf(schema).item))
      .filter(([innerName]) => unfilterable[`${name}.${innerName}`] === undefined)
      .flatMap(([innerName, innerSchema]) => this.withInner(`${name}.${innerName}`, innerSchema, unfilterable));
    return [field, ...[...inner, ...farEnds].map((each) => ({ ...each, isMany: each.isMany || field.isMany }))];
  }
}

const FAR_END_NAMES: readonly string[] = ["name", "host", "interface"];

function farEndFields(path: string): FieldOfKind[] {
  const lead = { value: null, isMany: false, isVersioned: false, description: null };
  return [
    {
      ...lead,
      name: `${path}.name`,
      value: { name: "text" },
      refersTo: null,
      description: "The name of the device at the other end.",
    },
    { ...lead, name: `${path}.host`, refersTo: "host", description: "The device at the other end." },
    {
      ...lead,
      name: `${path}.interface`,
      refersTo: "if_entry",
      description: "The interface of that device, if known.",
    },
  ];
}

const known = new Map<string, Fields>();

/** @param kindName of a resource @throws Error for any other kind */
export function fieldsOf(kindName: string): Fields {
  let fields = known.get(kindName);
  if (fields === undefined) {
    const resource = RESOURCES.find(({ kind }) => kind.name === kindName);
    if (resource === undefined) throw new Error(`filters: no resource has the kind ${kindName}`);
    const properties = resource.responseSchema.properties as Readonly<Record<string, TSchema>>;
    fields = new Fields(resource.kind, properties, resource.compose?.reachFields, resource.example);
    known.set(kindName, fields);
  }
  return fields;
}

function kindNamed(name: string): AnyKind {
  return fieldsOf(name).kind;
}

/** References by field name without `_id`; plural for lists of ids: `host`, `vlans`, `tags`. */
function referencesOf(kind: AnyKind, properties: Readonly<Record<string, TSchema>>): Map<string, Reference> {
  const targets = new Map<string, string>();
  for (const { to, field } of kind.references ?? [])
    if (ownValue(properties, field) !== undefined) targets.set(field, to);
  for (const scope of Object.keys(kind.scopes))
    if (properties[`${scope}_id`] !== undefined) targets.set(`${scope}_id`, scope);
  // A field that may refer to several kinds has no single target kind.
  for (const field of targets.keys()) if (!/(?:_ids?|^tags)$/.test(field)) targets.delete(field);
  const references = new Map<string, Reference>();
  for (const [field, kindName] of targets)
    references.set(field.replace(/_id(s?)$/, "$1"), { places: [placeOf(field, properties)], kindName });
  for (const [name, fields] of Object.entries(ownValue(COMBINED_REFERENCES, kind.name) ?? {}))
    references.set(name, {
      places: fields.map((field) => placeOf(field, properties)),
      kindName: targets.get(fields[0] as string) as string,
    });
  return references;
}

function placeOf(field: string, properties: Readonly<Record<string, TSchema>>): FieldPath {
  return { source: "members", steps: [{ name: field, isMany: itemOf(ownValue(properties, field) as TSchema).isMany }] };
}
