// Building blocks of wire schemas in TypeBox: identifiers, timestamps, addresses, limits. Values are validated as sent
// and then normalized by their format, never coerced. Independent of resources.

import {
  FormatRegistry,
  Kind,
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import { parseInstant, parseInstantOrAge } from "../base/instant.ts";
import { parseCidr, parseIp } from "../base/ip.ts";
import { parseMac } from "../base/mac.ts";
import { isUuid } from "../base/uuid.ts";
import { isVisible } from "../base/visible.ts";

export const NAME_MAX_LENGTH = 255;
export const DESCRIPTION_MAX_LENGTH = 4_000;
/** Maximum length of an X-Change-Reason. */
export const CHANGE_REASON_MAX_LENGTH = 500;
export const TAGS_MAX = 1_000;
export const CHILDREN_MAX = 10_000;
export const IDS_MAX = 300;
/** Maximum number of records in a bulk request. */
export const BULK_MAX = 1_000;
/** Maximum number of records in a bulk update, which sets the same fields on all of them. */
export const BULK_UPDATE_MAX = 10_000;
/** Maximum number of rows in an imported table, without its header. */
export const TABLE_ROWS_MAX = 100_000;
export const LIMIT_MAX = 1_000;
export const LIMIT_DEFAULT = 50;
export const INT32_MAX = 2_147_483_647;

/** Parser that returns the canonical form, or null if invalid. `sentence` describes the expected format. */
export interface Format {
  readonly parse: (text: string) => string | null;
  readonly sentence: string;
}

/** Formats by name; extended by defineFormat. */
const formats: Record<string, Format> = {
  uuid: { parse: (text) => (isUuid(text) ? text.toLowerCase() : null), sentence: "must be a UUID" },
  "date-time": {
    parse: (text) => (parseInstant(text) === null ? null : text),
    sentence: "must be an RFC 3339 timestamp with an offset, such as 2026-11-21T09:15:00.123Z",
  },
  "instant-or-age": {
    // Valid relative to 1970 implies valid relative to now.
    parse: (text) => (parseInstantOrAge(text, 0) === null && !isMarkerText(text) ? null : text),
    sentence:
      "must be an RFC 3339 timestamp with an offset, such as 2026-11-21T09:15:00.123Z, an age such as -90s, -15m, -24h, -7d or -2w, now, or a marker such as marker:NAME",
  },
  "as-of": {
    // Without the parameter, now is the default.
    parse: (text) => (text !== "now" && (parseInstantOrAge(text, 0) !== null || isMarkerText(text)) ? text : null),
    sentence:
      "must be an RFC 3339 timestamp with an offset, such as 2026-11-21T09:15:00.123Z, an age such as -90s, -15m, -24h, -7d or -2w, or a marker such as marker:NAME",
  },
  ip: {
    parse: (text) => parseIp(text)?.text ?? null,
    sentence: "must be an IPv4 or IPv6 address without a zone, such as 10.2.3.4 or 2001:db8::1",
  },
  cidr: {
    parse: (text) => parseCidr(text)?.text ?? null,
    sentence: "must be an IPv4 or IPv6 prefix with no host bits set, such as 10.2.3.0/24",
  },
  target: {
    parse: (text) => (text.includes("/") ? parseCidr(text)?.text : parseIp(text)?.text) ?? null,
    sentence:
      "must be an IPv4 or IPv6 address without a zone, or a prefix with no host bits set, such as 10.2.3.4 or 10.2.3.0/24",
  },
  mac: { parse: parseMac, sentence: "must be a MAC address such as 00:1b:21:aa:bb:cc" },
  // No control characters: they break terminals, logs and CSV. Not blank: such a record could not be found.
  name: {
    parse: (text) => (/^[^\p{Cc}\u2028\u2029]*$/u.test(text) && isVisible(text) ? text : null),
    sentence: "must not be blank or contain control characters",
  },
  line: {
    parse: (text) => (/^[^\p{Cc}\u2028\u2029]*$/u.test(text) ? text : null),
    sentence: "must not contain control characters",
  },
  "relative-path": {
    parse: (text) =>
      text.startsWith("/") || text.split("/").includes("..") || /[\p{Cc}\u2028\u2029]/u.test(text) ? null : text,
    sentence: "must be a relative path without .. in it",
  },
  email: {
    parse: (text) => (/^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]{1,189}$/u.test(text) ? text : null),
    sentence: "must be an e-mail address",
  },
};

for (const [name, format] of Object.entries(formats)) register(name, format);

/** Prefix of a marker's name or id in place of a timestamp. */
export const MARKER_PREFIX = "marker:";

function isMarkerText(text: string): boolean {
  const name = text.slice(MARKER_PREFIX.length);
  return text.startsWith(MARKER_PREFIX) && [...name].length <= NAME_MAX_LENGTH && formats.name?.parse(name) !== null;
}

export const FORMATS: Readonly<Record<string, Format>> = formats;

/** Adds a format for the schemas of a resource. @throws Error if the name is taken */
export function defineFormat(name: string, format: Format): void {
  if (Object.hasOwn(formats, name)) throw new Error(`schemas: duplicate format ${name}`);
  formats[name] = format;
  register(name, format);
}

function register(name: string, format: Format): void {
  FormatRegistry.Set(name, (text) => format.parse(text) !== null);
}

export const Uuid = Type.String({ format: "uuid" });
export const Timestamp = Type.String({ format: "date-time" });
/** Timestamp of an as-of query, an age, or a marker. Resolve with requestedInstant. */
export const AsOfText = (description: string) => Type.String({ format: "as-of", description });
/** One end of a range: a timestamp, an age, now, or a marker. Resolve with requestedInstant. */
export const InstantOrAge = (description: string) => Type.String({ format: "instant-or-age", description });
export const IpAddressText = Type.String({ format: "ip", maxLength: 45 });
export const CidrText = Type.String({ format: "cidr", maxLength: 49 });
/** Target of a scan. */
export const TargetText = Type.String({ format: "target", maxLength: 49 });
export const MacText = Type.String({ format: "mac", maxLength: 17 });
export const Name = Type.String({ format: "name", minLength: 1, maxLength: NAME_MAX_LENGTH });
/** Text reported by a device or entered by a user: one line, possibly empty. */
export const Line = Type.String({ format: "line", maxLength: NAME_MAX_LENGTH });
/** Reason of a write. */
export const ChangeReason = Type.String({ format: "name", minLength: 1, maxLength: CHANGE_REASON_MAX_LENGTH });
export const Description = Type.String({ maxLength: DESCRIPTION_MAX_LENGTH });
export const TagIds = Type.Array(Uuid, {
  maxItems: TAGS_MAX,
  description: "Ids of tags; duplicates are dropped.",
});

/** A nullable schema. */
export function Nullable<T extends TSchema>(schema: T, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** One of a set of strings, documented as an enumeration instead of a union of constants. */
export function OneOf<T extends string>(values: readonly T[], options: SchemaOptions = {}) {
  return Type.Unsafe<T>({ ...options, [Kind]: "OneOf", type: "string", enum: [...values] });
}

TypeRegistry.Set<{ enum: string[] }>("OneOf", (schema, value) => schema.enum.includes(value as string));

/** Form of names outside the set: `pattern` for validation, `sample` for error messages. */
interface PatternOptions extends SchemaOptions {
  readonly pattern: string;
  readonly sample: string;
}

/** One of a set of strings, or another name that matches a pattern. */
export function OneOfOr<T extends string, Other extends string>(
  values: readonly T[],
  { pattern, sample, ...options }: PatternOptions,
) {
  const anyOf = [
    { type: "string", enum: [...values] },
    { type: "string", pattern },
  ];
  return Type.Unsafe<T | Other>({ ...options, [Kind]: "OneOfOr", anyOf, [ACCEPTED_VALUES]: [...values, sample] });
}

/** Key of a schema's list of accepted values for error messages. */
export const ACCEPTED_VALUES: unique symbol = Symbol("words");

TypeRegistry.Set<{ anyOf: [{ enum: string[] }, { pattern: string }] }>(
  "OneOfOr",
  ({ anyOf: [known, other] }, value) =>
    typeof value === "string" && (known.enum.includes(value) || new RegExp(other.pattern).test(value)),
);

/** Fields of a response that a client may send back and that are ignored. */
interface BodyOptions extends SchemaOptions {
  ignored?: readonly string[];
}

/** A request body or an item in it: unknown fields are rejected, read-only ones ignored. */
export function Body<T extends TProperties>(properties: T, options: BodyOptions = {}): TObject<T> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** Body of an operation without input: no body, or an empty object. */
export const NoBody = Body({});

/** Read-only fields of every record. */
export const RECORD_READ_ONLY = ["created_at", "updated_at", "valid_from", "valid_to", "lineage_id"] as const;
/** Read-only fields of discovered records. */
export const OBSERVED_READ_ONLY = [
  ...RECORD_READ_ONLY,
  "first_discovery_id",
  "last_discovery_id",
  "last_seen_at",
] as const;

/** Common fields at the end of every record in a response. */
export const recordFields = {
  created_at: Timestamp,
  updated_at: Timestamp,
  valid_from: Timestamp,
  valid_to: Nullable(Timestamp, {
    description: "End of this version; null for the live one. The only field of a past response that can change later.",
  }),
  lineage_id: Nullable(Uuid, { description: "The first incarnation of the same real-world object." }),
};

export const observedFields = {
  first_discovery_id: Nullable(Uuid),
  last_discovery_id: Nullable(Uuid),
  last_seen_at: Timestamp,
};

/** A list in a query: repeated keys, commas or brackets. */
export function QueryList<T extends TSchema>(item: T, options: SchemaOptions = {}) {
  return Type.Array(item, { maxItems: IDS_MAX, ...options });
}

export const AtQuery = {
  at: Type.Optional(
    AsOfText(
      "Return the state at this timestamp, age or marker instead of the current one. `meta.at` is the resolved timestamp.",
    ),
  ),
};

/** Query of a read without other parameters. */
export const At = Type.Object(AtQuery);

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: "Rows per page; 0 for all, as a stream.",
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, default: 0 })),
  ...AtQuery,
};

/** Query of a list whose rows are not records: present only. */
export const PageOnlyQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: "Rows per page; 0 for all.",
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: INT32_MAX, default: 0, description: "Rows to skip." })),
};

/** Filter common to all lists. */
export const IdsQuery = {
  ids: Type.Optional(QueryList(Uuid, { description: "Only these records; repeated or comma-separated." })),
};

/** Query schemas of a list with these filters, and of its export. */
export function listQueries<Filters extends TProperties>(filters: Filters) {
  return {
    List: Type.Object({ ...filters, ...PageQuery }),
    Export: Type.Object({ ...filters, ...AtQuery }),
  };
}

/** Body of a bulk delete. */
export const BulkIds = Type.Array(Uuid, {
  minItems: 1,
  maxItems: BULK_MAX,
  description: "The records to delete, atomically.",
});

export const Cascade = Type.Object({
  cascade: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Deletes even if other records depend on it: those that cannot exist without it are deleted too, others lose the reference.",
    }),
  ),
});

/** Query of deletions of records that scans find. */
export const CascadeOrIgnore = Type.Object({
  ...Cascade.properties,
  ignore: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Also has scans ignore the record from now on; without it, a scan that finds the record again creates it again.",
    }),
  ),
});

export const IdParams = Type.Object({ id: Uuid });
export type IdParams = Static<typeof IdParams>;

/** Path parameter of a transaction. */
export const SequenceParams = Type.Object({ sequence: Type.Integer({ minimum: 1, maximum: INT32_MAX }) });
