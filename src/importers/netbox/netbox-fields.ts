// NetBox field formats: choices, addresses with prefix lengths, tags.

import { parseIp } from "../../base/ip.ts";
import { asObject, asText, type ForeignObject, listOf, nameOf } from "../object-fields.ts";

/** Value of a choice, which includes its label: `{"value": "virtual", "label": "Virtual"}`. */
export function choiceOf(value: unknown): string | null {
  return asText(asObject(value)?.value ?? value);
}

/** Parses an address with prefix length; null for anything else. */
export function addressOf(value: unknown): { readonly ip: string; readonly prefixLength: number } | null {
  const [, text = "", digits] = /^([^/]+)\/(\d{1,3})$/.exec(asText(value) ?? "") ?? [];
  const ip = parseIp(text);
  const prefixLength = Number(digits);
  return ip === null || prefixLength > ip.bytes.length * 8 ? null : { ip: ip.text, prefixLength };
}

/** By name: tags are listed as objects. */
export function tagNames(object: ForeignObject): string[] {
  return listOf(object.tags).flatMap((tag) => nameOf(tag) ?? []);
}
