// What stands in an object of NetBox, whatever really stands there. Reads nothing that is not of the form expected.

import { parseIp } from "../../base/ip.ts";

export type NetboxObject = Readonly<Record<string, unknown>>;

/** An object, null for anything else. */
export function asObject(value: unknown): NetboxObject | null {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as NetboxObject) : null;
}

/** A text without blanks around it; null for an empty one and for anything else. */
export function asText(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? null : text;
}

/** A whole number; null for anything else. */
export function asInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** The value of a choice, which comes with its label: `{"value": "virtual", "label": "Virtual"}`. */
export function choiceOf(value: unknown): string | null {
  return asText(asObject(value)?.value ?? value);
}

/** The id of an object that another one names. */
export function idOf(value: unknown): number | null {
  const id = asInteger(asObject(value)?.id);
  return id !== null && id > 0 ? id : null;
}

/** The name of an object that another one names. */
export function nameOf(value: unknown): string | null {
  const object = asObject(value);
  return asText(object?.name) ?? asText(object?.display);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of an address with its prefix length, read; null for anything else. */
export function addressOf(value: unknown): { readonly ip: string; readonly prefixLength: number } | null {
  const [, text = "", digits] = /^([^/]+)\/(\d{1,3})$/.exec(asText(value) ?? "") ?? [];
  const ip = parseIp(text);
  const prefixLength = Number(digits);
  return ip === null || prefixLength > ip.bytes.length * 8 ? null : { ip: ip.text, prefixLength };
}

/** By name: tags are listed as objects. */
export function tagNames(object: NetboxObject): string[] {
  return listOf(object.tags).flatMap((tag) => nameOf(tag) ?? []);
}
