// What the console's forms are made of: the fields of the bodies that the API takes for an update, with their limits and
// their words. Made of the OpenAPI document, so that a form can't promise what the API refuses.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createBareApp } from "../src/bare-app.ts";
import type { FormField } from "../src/console/editing/field.ts";
import { openApiDocument } from "../src/http/documentation.ts";

/** What the console imports as `#forms`. */
const FORMS = join(resolve(import.meta.dir, ".."), "dist/console-forms.ts");

/** The operations that there are forms for. */
export const FORM_OPERATIONS = ["updateHost", "updateIfEntry", "updateSubnet", "updateVlan", "setUp"] as const;
type FormOperation = (typeof FORM_OPERATIONS)[number];

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly readOnly?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

interface DescribedOperation {
  readonly operationId?: string;
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}

/** The fields that can be written, by operation. */
export function formsOf(document: Document): Readonly<Record<FormOperation, readonly FormField[]>> {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return Object.fromEntries(
    FORM_OPERATIONS.map((name) => {
      const schema = operations.find(({ operationId }) => operationId === name)?.requestBody?.content[
        "application/json"
      ].schema;
      if (schema?.properties === undefined) throw new Error(`console-forms: ${name} takes no object`);
      const required = new Set(schema.required);
      const fields = Object.entries(schema.properties)
        .filter(([, property]) => property.readOnly !== true)
        .map(([field, property]) => fieldOf(field, property, required.has(field)));
      return [name, fields];
    }),
  ) as unknown as Record<FormOperation, FormField[]>;
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): FormField {
  const types = [schema.type ?? []].flat();
  const { minLength, maxLength, minimum, maximum, enum: choices, description } = schema;
  const limits = { minLength, maxLength, minimum, maximum, choices, description };
  return {
    name,
    type: typeOf(schema, types),
    isNullable: types.includes("null"),
    isRequired,
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
  };
}

function typeOf({ enum: choices, format, items }: Schema, types: readonly string[]): FormField["type"] {
  if (choices !== undefined) return "choice";
  if (types.includes("boolean")) return "boolean";
  if (types.includes("integer")) return "integer";
  if (types.includes("array")) return items?.format === "uuid" ? "ids" : "other";
  if (types.includes("string")) return format === "uuid" ? "id" : "text";
  return "other";
}

/** Writes them, unless they are there. */
export async function writeForms(text?: string): Promise<void> {
  const document = JSON.parse(text ?? (await openApiDocument(createBareApp().app))) as Document;
  const forms = `export const FORMS = ${JSON.stringify(formsOf(document), null, 2)} as const;\n`;
  const file = Bun.file(FORMS);
  if ((await file.exists()) && (await file.text()) === forms) return;
  mkdirSync(resolve(FORMS, ".."), { recursive: true });
  await Bun.write(file, forms);
}
