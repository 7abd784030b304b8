// Field value comparison by type: turns literals into tests. SQL and JavaScript tests must agree. Independent of
// fields.

import { ownValue } from "../../base/fields.ts";
import { formatInstant, type Instant, parseInstantOrAge } from "../../base/instant.ts";
import { type Cidr, cidrContains, cidrOf, cidrSortKey, type Ip, ipSortKey, parseCidr, parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import { nearestName } from "../../base/nearest-name.ts";
import { compareCodePoints, foldCase } from "../../base/text.ts";
import { isUuid } from "../../base/uuid.ts";
import type { Bind, ValueTest } from "../../db/reading/condition.ts";
import { betweenWildcards, type Comparator, FilterProblem, type Literal, plainText } from "./grammar.ts";

/** Comparison semantics of a field's values. */
export type ValueType =
  | { readonly name: "text" }
  | { readonly name: "enumeration"; readonly values: readonly string[] }
  | { readonly name: "number"; readonly isInBits: boolean }
  | { readonly name: "boolean" }
  | { readonly name: "instant" }
  | { readonly name: "date" }
  | { readonly name: "uuid" }
  | { readonly name: "ip_address" }
  | { readonly name: "prefix" }
  | { readonly name: "mac_address" };

const EQUAL = ["=", "!="] as const;
const ORDERED = [...EQUAL, "<", "<=", ">", ">="] as const;

/** Comparators per type, besides `:*`. */
export const COMPARATORS_OF: { readonly [Name in ValueType["name"]]: readonly Comparator[] } = {
  text: [...ORDERED, ":"],
  enumeration: [...EQUAL, ":"],
  number: [...ORDERED, ":"],
  boolean: [...EQUAL, ":"],
  instant: ORDERED,
  date: ORDERED,
  uuid: [...EQUAL, ":"],
  ip_address: [...ORDERED, ":"],
  prefix: [...ORDERED, ":"],
  mac_address: [...EQUAL, ":"],
};

export const VALUE_TYPES = Object.keys(COMPARATORS_OF) as Array<ValueType["name"]>;

/**
 * Parses a string as a point in time: RFC 3339, an age, or any other form the appliance knows. Null for anything else;
 * the problem, as the rest of a sentence, for an unknown reference such as a marker.
 */
export type InstantOf = (text: string) => Instant | { readonly problem: string } | null;

/**
 * Test of `field <by> literal`; the caller negates `!=`.
 * @throws FilterProblem for a literal that is not of the type, or an unsupported comparator
 */
export function valueTest(type: ValueType, by: Comparator, literal: Literal, instantOf: InstantOf): ValueTest {
  const { position } = literal;
  if (!COMPARATORS_OF[type.name].includes(by))
    throw new FilterProblem(
      position,
      `must compare ${TYPE_NAMES[type.name]} by ${joinWithOr(COMPARATORS_OF[type.name])}, not by ${by}`,
    );
  switch (type.name) {
    case "text":
      return textTest(by, literal);
    case "enumeration":
      return equalTo(enumValue(type.values, literal));
    case "number":
      return numberTest(by, numberOf(literal, type.isInBits));
    case "boolean":
      return booleanTest(literal);
    case "instant":
      return orderedText(by, instantText(literal, instantOf));
    case "date":
      return orderedText(by, dateText(literal, instantOf));
    case "uuid":
      return equalTo(uuidOf(literal));
    case "ip_address":
      return addressTest(by, literal);
    case "prefix":
      return prefixTest(by, literal);
    case "mac_address":
      return macTest(by, literal);
  }
}

/**
 * The same test for a field that may have had another type: compares strings with strings only, and true as 1, as SQL
 * does, which has no booleans.
 */
export function testOfType({ name }: ValueType, test: ValueTest): ValueTest {
  const { holds, sql, ...rest } = test;
  const isOfText = name !== "number" && name !== "boolean";
  return {
    ...rest,
    holds: (value) => (typeof value === "string") === isOfText && holds(asOfType(name, value)),
    sql:
      sql === null
        ? null
        : (value, bind) =>
            `CASE WHEN (typeof(${value}) = 'text') = ${isOfText ? 1 : 0} THEN ${sql(value, bind)} ELSE 0 END`,
  };
}

function asOfType(name: ValueType["name"], value: unknown): unknown {
  if (name === "number" && typeof value === "boolean") return Number(value);
  if (name === "boolean" && (value === 0 || value === 1)) return value === 1;
  return value;
}

const TYPE_NAMES: { readonly [Name in ValueType["name"]]: string } = {
  text: "a text",
  enumeration: "a value of a vocabulary",
  number: "a number",
  boolean: "true or false",
  instant: "a timestamp",
  date: "a date",
  uuid: "an id",
  ip_address: "an address",
  prefix: "a prefix",
  mac_address: "a MAC address",
};

function joinWithOr(comparators: readonly string[]): string {
  return `${comparators.slice(0, -1).join(" ")} or ${comparators.at(-1)}`;
}

/** Whether a comparison result satisfies a comparator. @param order negative, zero or positive */
function isOrdered(by: Comparator, order: number): boolean {
  switch (by) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    default:
      return order === 0;
  }
}

function sqlComparator(by: Comparator): string {
  return by === ":" || by === "!=" ? "=" : by;
}

/** Test for exactly this string. */
function equalTo(text: string): ValueTest {
  return {
    holds: (value) => value === text,
    sql: (value, bind) => `${value} = ${bind(text)}`,
    lookup: { match: "whole", text },
  };
}

/** For strings that sort by code point, such as timestamps in canonical form. */
function orderedText(by: Comparator, text: string): ValueTest {
  return {
    holds: (value) => isOrdered(by, compareCodePoints(value as string, text)),
    sql: (value, bind) => `${value} ${sqlComparator(by)} ${bind(text)}`,
  };
}

/**
 * Case-insensitive, as lists are sorted; `*` matches anything, and `:` matches a part. An empty text counts as no
 * value: it equals nothing and has no order.
 */
function textTest(by: Comparator, literal: Literal): ValueTest {
  const { holds, sql, ...rest } = anyTextTest(by, literal);
  return {
    ...rest,
    holds: (value) => value !== "" && holds(value),
    sql: sql === null ? null : (value, bind) => `(${value} <> '' AND ${sql(value, bind)})`,
  };
}

function anyTextTest(by: Comparator, literal: Literal): ValueTest {
  if (by === "=" || by === "!=" || by === ":") {
    const parts = betweenWildcards(literal).map(foldCase);
    if (by === ":") return likeTest(["", ...parts, ""]);
    if (parts.length > 1) return likeTest(parts);
  }
  const text = foldCase(plainText(literal));
  return {
    holds: (value) => isOrdered(by, compareCodePoints(foldCase(value as string), text)),
    sql: asciiOnly((value, bind) => `lower(${value}) ${sqlComparator(by)} ${bind(text)}`),
    ...(sqlComparator(by) === "=" ? { lookup: { match: "whole", text } } : {}),
  };
}

/** @param parts folded strings with anything in between */
function likeTest(parts: readonly string[]): ValueTest {
  const pattern = parts.map((part) => part.replace(/[\\%_]/g, "\\$&")).join("%");
  return {
    holds: (value) => isLike(foldCase(value as string), parts),
    sql: asciiOnly((value, bind) => `${value} LIKE ${bind(pattern)} ESCAPE '\\'`),
  };
}

/** Greedy from the left; the first and last part are anchored. */
function isLike(text: string, parts: readonly string[]): boolean {
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (!text.startsWith(first)) return false;
  let index = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, index);
    if (found < 0) return false;
    index = found + part.length;
  }
  return text.length - last.length >= index && text.endsWith(last);
}

/** SQLite only folds ASCII: leaves any other text to the JavaScript test. length() stops at NUL. */
function asciiOnly(sql: (value: string, bind: Bind) => string): ValueTest["sql"] {
  return (value, bind) => `CASE WHEN octet_length(${value}) = length(${value}) THEN ${sql(value, bind)} END`;
}

function enumValue(values: readonly string[], literal: Literal): string {
  const text = plainText(literal);
  const found = values.find((value) => foldCase(value) === foldCase(text));
  if (found !== undefined) return found;
  const nearest = nearestName(text, values);
  throw new FilterProblem(
    literal.position,
    nearest === null
      ? `must be one of ${values.length > 12 ? `${values.slice(0, 12).join(", ")}, …` : values.join(", ")}`
      : `must be a known value (did you mean ${nearest}?)`,
  );
}

function numberTest(by: Comparator, number: number): ValueTest {
  return {
    holds: (value) => isOrdered(by, (value as number) - number),
    sql: (value, bind) => `${value} ${sqlComparator(by)} ${bind(number)}`,
  };
}

/** For bits per second, accepts SI prefixes: `10G`, `2.5 G` in quotes, `100Mbps`, `1Gbit/s`. */
function numberOf(literal: Literal, isInBits: boolean): number {
  const match = NUMBER.exec(plainText(literal).trim());
  const unit = match?.[2] ?? "";
  // Parsed as one decimal number: multiplication such as 4.03 * 1000 would be inexact.
  const number = Number(`${match?.[1]}e${ownValue(EXPONENTS, unit.toUpperCase())}`);
  if (match === null || !Number.isFinite(number) || (!isInBits && (unit !== "" || match[3] !== undefined)))
    throw new FilterProblem(
      literal.position,
      isInBits ? "must be a number of bits per second, such as 1000000, 100M or 10G" : "must be a number",
    );
  return number;
}

const NUMBER = /^(-?\d{1,15}(?:\.\d{1,12})?)\s?([kmgt])?(bps|bit\/s|b\/s)?$/i;
const EXPONENTS: Readonly<Record<string, number>> = { "": 0, K: 3, M: 6, G: 9, T: 12 };

function booleanTest(literal: Literal): ValueTest {
  const text = plainText(literal).toLowerCase();
  if (text !== "true" && text !== "false") throw new FilterProblem(literal.position, "must be true or false");
  const isTrue = text === "true";
  return { holds: (value) => value === isTrue, sql: (value) => `${value} = ${isTrue ? 1 : 0}` };
}

function instantText(literal: Literal, instantOf: InstantOf): string {
  return formatInstant(instantFrom(literal, instantOf));
}

/** The UTC day of a timestamp in any accepted form. */
function dateText(literal: Literal, instantOf: InstantOf): string {
  return instantText(literal, instantOf).slice(0, "2026-11-21".length);
}

/** A date means its first moment in UTC. @throws FilterProblem for anything but a timestamp */
export function instantFrom(literal: Literal, instantOf: InstantOf): Instant {
  const text = plainText(literal);
  const instant = DATE.test(text) ? parseInstantOrAge(`${text}T00:00:00Z`, 0) : instantOf(text);
  if (instant === null)
    throw new FilterProblem(
      literal.position,
      "must be an RFC 3339 timestamp, a date such as 2026-11-21, an age such as -15m, -24h or -7d, or a marker such as marker:NAME",
    );
  if (typeof instant === "object") throw new FilterProblem(literal.position, instant.problem);
  return instant;
}

const DATE = /^\d{4}-\d\d-\d\d$/;

function uuidOf(literal: Literal): string {
  const text = plainText(literal);
  if (!isUuid(text)) throw new FilterProblem(literal.position, "must be a UUID; for a name, use field.name");
  return text.toLowerCase();
}

/** `:` tests for an address within a prefix. */
function addressTest(by: Comparator, literal: Literal): ValueTest {
  const text = plainText(literal);
  if (by === ":" && text.includes("/")) {
    const cidr = prefixOf(literal);
    const textPrefix = commonTextPrefix(cidr);
    return {
      holds: (value) => isWithin(value as string, cidr),
      sql: withinSql(cidr),
      ...(textPrefix === "" ? {} : { lookup: { match: "beginning", text: textPrefix } }),
    };
  }
  const ip = parseIp(text);
  if (ip === null)
    throw new FilterProblem(
      literal.position,
      "must be an address such as 10.2.3.4, or after : a prefix such as 10.2.0.0/16",
    );
  if (by === "=" || by === "!=" || by === ":") return equalTo(ip.text);
  return byKey(by, ipSortKey(ip), (value) => {
    const address = parseIp(value);
    return address === null ? null : ipSortKey(address);
  });
}

/** Compares by sort keys that SQL cannot compute. */
function byKey(by: Comparator, key: string, keyOf: (value: string) => string | null): ValueTest {
  return {
    holds: (value) => {
      const ownKey = keyOf(value as string);
      return ownKey !== null && isOrdered(by, compareCodePoints(ownKey, key));
    },
    sql: null,
  };
}

function isWithin(value: string, cidr: Cidr): boolean {
  const ip = parseIp(value);
  return ip !== null && cidrContains(cidr, ip);
}

/**
 * Common prefix of the canonical forms of all addresses in a CIDR prefix. For IPv6, the groups before the first zero
 * group, after which the text may be compressed.
 */
function commonTextPrefix({ version, bytes, prefixLength }: Cidr): string {
  if (version === 4)
    return [...bytes.subarray(0, Math.floor(prefixLength / 8))]
      .map((byte) => `${byte}.`)
      .join("")
      .replace(/^((?:\d+\.){3}\d+)\.$/, "$1");
  let textPrefix = "";
  for (let index = 0; index + 2 <= prefixLength / 8 && index < 14; index += 2) {
    const group = ((bytes[index] as number) << 8) | (bytes[index + 1] as number);
    if (group === 0) break;
    textPrefix += `${group.toString(16)}:`;
  }
  return textPrefix;
}

/** SQL test by the text prefixes of all addresses in an IPv4 prefix; IPv6 text may be compressed. */
function withinSql(cidr: Cidr): ValueTest["sql"] {
  if (cidr.version === 6) return (value) => `CASE WHEN instr(${value}, ':') = 0 THEN 0 END`;
  const wholeBytes = Math.floor(cidr.prefixLength / 8);
  if (cidr.prefixLength === 0) return (value) => `(instr(${value}, ':') = 0)`;
  const rest = cidr.prefixLength % 8;
  const fixed = [...cidr.bytes.subarray(0, wholeBytes)];
  if (rest === 0)
    return wholeBytes === 4
      ? (value, bind) => `${value} = ${bind(fixed.join("."))}`
      : (value, bind) => textPrefix(value, bind, fixed);
  const first = cidr.bytes[wholeBytes] as number;
  const bytes = Array.from({ length: 2 ** (8 - rest) }, (_, index) => first + index);
  return (value, bind) =>
    wholeBytes === 3
      ? `(${value} IN (${bytes.map((byte) => bind([...fixed, byte].join("."))).join(", ")}))`
      : `(${bytes.map((byte) => textPrefix(value, bind, [...fixed, byte])).join(" OR ")})`;
}

/** `10.2.` up to `10.2/`, the next character: as a range of strings. */
function textPrefix(value: string, bind: Bind, bytes: readonly number[]): string {
  const text = bytes.join(".");
  return `(${value} >= ${bind(`${text}.`)} AND ${value} < ${bind(`${text}/`)})`;
}

function prefixOf(literal: Literal): Cidr {
  const text = plainText(literal);
  const exact = parseCidr(text);
  if (exact !== null) return exact;
  const [address = "", length = ""] = text.split("/");
  const ip = parseIp(address);
  const hint =
    ip !== null && /^\d{1,3}$/.test(length) && Number(length) <= ip.bytes.length * 8
      ? `; ${cidrOf(ip, Number(length)).text}?`
      : ", such as 10.2.0.0/16";
  throw new FilterProblem(literal.position, `must be a prefix with no host bits set${hint}`);
}

/** `:` with a prefix tests for a subnet of it, with an address for a prefix that contains it. */
function prefixTest(by: Comparator, literal: Literal): ValueTest {
  const text = plainText(literal);
  if (by === ":") {
    const ip: Ip | null = text.includes("/") ? null : parseIp(text);
    if (ip !== null) return { holds: (value) => isIn(ip, value as string), sql: null };
    const outer = prefixOf(literal);
    return {
      holds: (value) => {
        const inner = parseCidr(value as string);
        return (
          inner !== null &&
          inner.version === outer.version &&
          inner.prefixLength >= outer.prefixLength &&
          isWithin(inner.text.slice(0, inner.text.indexOf("/")), outer)
        );
      },
      sql: null,
    };
  }
  const { text: canonical } = prefixOf(literal);
  if (by === "=" || by === "!=") return equalTo(canonical);
  return byKey(by, cidrSortKey(canonical), cidrSortKey);
}

function isIn(ip: Ip, prefix: string): boolean {
  const cidr = parseCidr(prefix);
  return cidr !== null && cidrContains(cidr, ip);
}

/** Any notation; `:` matches a leading part of at least two digits. */
function macTest(by: Comparator, literal: Literal): ValueTest {
  const text = plainText(literal);
  const digits = text.replace(/[:.-]/g, "").toLowerCase();
  const mac = parseMac(text) ?? (/^[0-9a-f]{12}$/.test(digits) ? digits.replace(/(..)(?=.)/g, "$1:") : null);
  if (mac !== null) return equalTo(mac);
  if (by !== ":" || !/^[0-9a-f]{2,11}$/.test(digits) || !/^[0-9a-f:.-]+$/i.test(text))
    throw new FilterProblem(
      literal.position,
      "must be a MAC address such as 00:1b:21:aa:bb:cc, or after : its first digits, such as 00:1b:21",
    );
  const textPrefix = digits.replace(/(..)(?=.)/g, "$1:");
  return {
    holds: (value) => (value as string).startsWith(textPrefix),
    sql: (value, bind) => `substr(${value}, 1, ${textPrefix.length}) = ${bind(textPrefix)}`,
    lookup: { match: "beginning", text: textPrefix },
  };
}
