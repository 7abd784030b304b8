// Query-parameter parser: URL text to schema values; issues state the value and the allowed range.

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { type Issue, pointerTo } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { isSecretFieldName } from "../base/log.ts";
import { append } from "../base/multimap.ts";
import { check } from "../schemas/validation.ts";

/** @returns the values by name, without absent parameters */
export function parseQuery(schema: TObject, search: string): { value: Record<string, unknown>; issues: Issue[] } {
  if ((search === "" || search === "?") && schema.required === undefined) return { value: {}, issues: [] };
  const issues: Issue[] = [];
  const raw = new Map<string, string[]>();
  for (const [key, text] of decodePairs(search, issues)) {
    const name = key.endsWith("[]") ? key.slice(0, -2) : key;
    const property = ownValue(schema.properties, name);
    if (property === undefined || (name !== key && !KindGuard.IsArray(property))) {
      issues.push({
        path: pointerTo(key),
        message: "is not a known parameter",
        ...(isSecretFieldName(key) ? {} : { value: text.slice(0, 200) }),
      });
      continue;
    }
    append(raw, name, text);
  }
  const value: Record<string, unknown> = {};
  for (const [name, texts] of raw) {
    const property = ownValue(schema.properties, name) as TSchema;
    const sent = read(property, texts);
    if (sent === undefined) {
      issues.push({ path: `/${name}`, message: "is given more than once", value: texts.slice(0, 5) });
      continue;
    }
    const checked = check(property, sent, `/${name}`);
    if (checked.ok) value[name] = checked.value;
    else
      issues.push(
        ...checked.issues.map((issue) =>
          isOffsetLost(property, texts) ? { ...issue, message: `${issue.message}; encode + as %2B in a query` } : issue,
        ),
      );
  }
  for (const name of schema.required ?? [])
    if (!raw.has(name)) issues.push({ path: `/${name}`, message: "is required" });
  return { value, issues };
}

/** Converts path parameters to schema values; invalid ones stay text and fail validation. */
export function parameterValues(schema: TObject, texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      Object.hasOwn(schema.properties, name) ? read(ownValue(schema.properties, name) as TSchema, [text]) : text,
    ]),
  );
}

/** Whether a timestamp's `+01:00` became ` 01:00`, since a plus means a space in a query. */
function isOffsetLost(property: TSchema, texts: readonly string[]): boolean {
  return INSTANT_FORMATS.has(property.format as string) && texts.some((text) => / \d\d:\d\d$/.test(text));
}

function read(property: TSchema, texts: string[]): unknown {
  if (KindGuard.IsArray(property)) return texts.flatMap((text) => text.split(",")).filter((text) => text !== "");
  if (texts.length > 1) return undefined;
  const text = texts[0] as string;
  if (KindGuard.IsInteger(property)) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (KindGuard.IsBoolean(property)) return text === "true" ? true : text === "false" ? false : text;
  return text;
}

function* decodePairs(search: string, issues: Issue[]): Generator<[string, string]> {
  const text = search.startsWith("?") ? search.slice(1) : search;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = equals < 0 ? pair : pair.slice(0, equals);
    const value = equals < 0 ? "" : pair.slice(equals + 1);
    try {
      yield [decodeURIComponent(key.replaceAll("+", " ")), decodeURIComponent(value.replaceAll("+", " "))];
    } catch {
      issues.push({ path: pointerTo(key.slice(0, 100)), message: "is not valid percent-encoded UTF-8" });
    }
  }
}

/** Formats with an offset, whose plus sign means a space in a query. */
const INSTANT_FORMATS: ReadonlySet<string> = new Set(["date-time", "as-of", "instant-or-age"]);
