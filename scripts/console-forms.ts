// Field descriptions for the console's forms and lists, generated from the OpenAPI document: body fields of POST and
// PUT requests with limits and vocabularies, and fields of listed records. A form can't offer what the API refuses.

import { join, resolve } from "node:path";
import { FIELD_TEXT_MAX_LENGTH, FIELD_URL_MAX_LENGTH } from "../src/base/custom-field-limits.ts";
import type { FormField } from "../src/console/forms/field.ts";
import {
  apiPath,
  EDITED_KINDS,
  type EditedKind,
  LISTED_KINDS,
  type ListedKind,
  operationOn,
} from "../src/console/kinds/kinds.ts";
import { fingerprintOf, isUpToDate, markBuilt, writeAtomically } from "./build-inputs.ts";

const root = resolve(import.meta.dir, "..");
/** Imported by the console as `#forms`. */
const FORMS = join(root, "dist/console-forms.ts");
/** Imported by the console as `#fields`. */
const FIELDS = join(root, "dist/console-fields.ts");
/** Imported by the console as `#limits`. */
const LIMITS = join(root, "dist/console-limits.ts");
const FORMS_OUTPUT = { stamp: join(root, "dist/.console-forms-inputs"), files: [FORMS, FIELDS, LIMITS] };

/** Operations with generated forms. */
const FORM_OPERATIONS: readonly FormOperation[] = EDITED_KINDS.flatMap((kind) => [
  operationOn("create", kind),
  operationOn("update", kind),
]);
type FormOperation = ReturnType<typeof operationOn<"create" | "update", EditedKind>>;

/** Fields of hand-written forms, which need only limits and vocabularies, by operation or schema. */
const LIMITED: Readonly<Record<string, readonly string[]>> = {
  setUp: ["setup_token", "name", "email", "password", "organization_name", "network_name"],
  changePassword: ["current_password", "new_password"],
  createUser: ["email", "name", "role", "password"],
  createApiKey: ["name"],
  updateOrganization: ["name"],
  createCredential: ["name"],
  CredentialType: ["security_name", "auth_protocol", "priv_protocol", "context_name"],
  Secret: ["value", "path"],
  tryCredential: ["ip_address"],
  allocateFromSubnet: ["count", "name", "description"],
  acceptConflict: ["reason"],
  HostSplit: ["name"],
};

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly readOnly?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly $ref?: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface DescribedOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly "application/json"?: { schema: Schema } } }>
  >;
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}

/** A field of listed records. */
export interface ListField extends Pick<FormField, "name" | "type"> {
  /** Whether the API can order by it. */
  readonly isOrdered?: true;
}

/** Fields of one operation. */
export type DescribedFields = readonly FormField[];

/** Writable fields by operation. */
export function formsOf(document: Document): Readonly<Record<FormOperation, readonly FormField[]>> {
  return Object.fromEntries(FORM_OPERATIONS.map((name) => [name, fieldsIn(bodyOf(document, name), name)])) as Record<
    FormOperation,
    FormField[]
  >;
}

/** Fields by name, without descriptions, for each entry of LIMITED. */
function limitsOf(document: Document): Readonly<Record<string, Readonly<Record<string, FormField>>>> {
  return Object.fromEntries(
    Object.entries(LIMITED).map(([name, names]) => {
      const described = fieldsIn(document.components.schemas[name] ?? bodyOf(document, name), name);
      const fields = names.map((fieldName) => {
        const field = described.find((candidate) => candidate.name === fieldName);
        if (field === undefined) throw new Error(`console-forms: ${name} has no ${fieldName}`);
        const { description: _, ...limits } = field;
        return [fieldName, limits] as const;
      });
      return [name, Object.fromEntries(fields)];
    }),
  );
}

function bodyOf({ paths }: Document, operation: string): Schema | undefined {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return operations.find(({ operationId }) => operationId === operation)?.requestBody?.content["application/json"]
    .schema;
}

/** Fields of an object or of all its variants; a constant that differs between variants becomes a choice. */
function fieldsIn(schema: Schema | undefined, name: string): FormField[] {
  const variants = schema?.anyOf ?? [schema ?? {}];
  const fields = new Map<string, FormField>();
  for (const { properties, required = [] } of variants) {
    if (properties === undefined) throw new Error(`console-forms: ${name} must take an object`);
    for (const [field, property] of Object.entries(properties)) {
      if (property.readOnly === true) continue;
      const choices = property.const === undefined ? [] : [...(fields.get(field)?.choices ?? []), property.const];
      const resolved = choices.length === 0 ? property : { ...property, enum: choices };
      fields.set(field, fieldOf(field, resolved, required.includes(field)));
    }
  }
  return [...fields.values()];
}

/** Fields of listed records by kind. */
export function listFieldsOf(document: Document): Readonly<Record<ListedKind, readonly ListField[]>> {
  const { schemas } = document.components;
  const resolved = ({ $ref, ...schema }: Schema): Schema => resolveSchema(schemas, $ref) ?? schema;
  const fields = LISTED_KINDS.map((kind) => {
    const operation = document.paths[apiPath(kind)]?.get;
    const body = operation?.responses["200"]?.content?.["application/json"]?.schema;
    const record = resolved(body?.properties?.data?.items ?? {});
    const order = operation?.parameters?.find(({ name }) => name === "order_by")?.schema;
    const ordered = [order, ...(order?.anyOf ?? [])].flatMap((schema) => schema?.enum ?? []);
    if (record.properties === undefined) throw new Error(`console-forms: the list of ${kind} has no fields`);
    const recordFields = Object.entries(record.properties).map(([name, property]) => {
      const { type } = fieldOf(name, resolved(property), true);
      return { name, type, ...(ordered.includes(name) ? { isOrdered: true as const } : {}) };
    });
    return [kind, recordFields];
  });
  return Object.fromEntries(fields) as Record<ListedKind, ListField[]>;
}

function resolveSchema(schemas: Document["components"]["schemas"], $ref: string | undefined): Schema | undefined {
  return $ref === undefined ? undefined : schemas[$ref.replace("#/components/schemas/", "")];
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): FormField {
  const types = [schema.type ?? [], schema.anyOf?.map(({ type }) => type ?? []) ?? []].flat(2);
  const { minLength, maxLength, minimum, maximum, description } = schema;
  const choices = schema.enum ?? schema.items?.enum;
  const limits = { minLength, maxLength, minimum, maximum, choices, description };
  return {
    name,
    type: typeOf(schema, types),
    isNullable: types.includes("null"),
    isRequired,
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
  };
}

function typeOf({ enum: choices, format, items, anyOf }: Schema, types: readonly string[]): FormField["type"] {
  if (choices !== undefined) return "choice";
  if (anyOf !== undefined) return types.includes("string") ? "scalar" : "other";
  if (types.includes("boolean")) return "boolean";
  if (types.includes("integer")) return "integer";
  if (types.includes("array")) return listTypeOf(items);
  if (types.includes("string")) return format === "uuid" ? "id" : format === "date-time" ? "instant" : "text";
  return "other";
}

function listTypeOf(items: Schema | undefined): FormField["type"] {
  if (items?.enum !== undefined) return "choices";
  if (items?.type !== "string") return "other";
  return items.format === "uuid" ? "ids" : "lines";
}

/** Maximum length of custom field values by type; the OpenAPI document does not contain them. */
const CUSTOM_LIMITS = { text: FIELD_TEXT_MAX_LENGTH, url: FIELD_URL_MAX_LENGTH };

/** Generates the OpenAPI document from the sources, as JSON. Loads the server: 3 s of CPU time. */
export async function apiDocument(): Promise<string> {
  const [{ createBareApp }, { openApiDocument }] = await Promise.all([
    import("../src/registry/bare-app.ts"),
    import("../src/http/documentation.ts"),
  ]);
  return openApiDocument(createBareApp().app);
}

/**
 * Writes the console's forms and fields, unless the sources are unchanged since the last time.
 * @param document the OpenAPI document as JSON, if the caller already has it
 */
export async function writeForms(document?: string): Promise<void> {
  const fingerprint = fingerprintOf(root, "scripts/console-forms.ts");
  if (isUpToDate(FORMS_OUTPUT, fingerprint)) return;
  const parsed = JSON.parse(document ?? (await apiDocument())) as Document;
  writeAtomically(FORMS, moduleSource({ FORMS: formsOf(parsed), CUSTOM_LIMITS }));
  writeAtomically(FIELDS, moduleSource({ LIST_FIELDS: listFieldsOf(parsed) }));
  const REASON_MAX_LENGTH = parsed.components.parameters.ChangeReason?.schema.maxLength;
  writeAtomically(LIMITS, moduleSource({ LIMITS: limitsOf(parsed), REASON_MAX_LENGTH }));
  markBuilt(FORMS_OUTPUT, fingerprint);
}

function moduleSource(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const;\n`)
    .join("");
}
