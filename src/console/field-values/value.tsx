// Field value of a record: references by name, timestamps in the reader's zone, other values as text.

import { CommaList } from "../components/comma-list.tsx";
import { CustomValue } from "../components/custom-value.tsx";
import { speedOf } from "../components/speed.ts";
import { When } from "../components/when.tsx";
import { operationOnMany, type RecordKind, referencedKind } from "../kinds/kinds.ts";
import { customKey } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import { Tags } from "../names/tags.tsx";
import { may } from "../session/me.ts";
import { ifTypeLabel } from "../text/if-types.ts";

/** Kind referenced by a field, if the user may read its names. */
function namedKind(field: string): RecordKind | undefined {
  const kind = referencedKind(field);
  return kind !== undefined && may(operationOnMany("list", kind)) ? kind : undefined;
}

/** Long values are truncated. */
const TEXT_MAX = 300;

interface ValueProps {
  readonly field: string;
  readonly value: unknown;
  /** Instant for resolving references; null for now. Defaults to that of the surrounding content. */
  readonly at?: string | null;
}

export function Value({ field, value, at }: ValueProps) {
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
    return <i class="aside">none</i>;
  if (customKey(field) !== null) return <CustomValue field={field} value={value} />;
  if (field === "speed_bps" && typeof value === "number") return <>{speedOf(value)}</>;
  if (field === "if_type" && typeof value === "number") return <IfType type={value} />;
  if (field === "tags" && Array.isArray(value)) return <Tags ids={value.map(String)} as={at} />;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  const kind = namedKind(field);
  if (kind !== undefined && typeof value === "string") return <Named kind={kind} id={value} as={at} />;
  if (kind !== undefined && Array.isArray(value))
    return (
      <CommaList items={value.map(String)} keyOf={String}>
        {(id) => <Named kind={kind} id={id} as={at} />}
      </CommaList>
    );
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return <When instant={value} />;
  const end = farEndOf(value);
  if (end !== null) return <Named kind={end.type === "Host" ? "host" : "if_entry"} id={end.id} as={at} />;
  const text = textOf(value);
  return <bdi class="value">{text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text}</bdi>;
}

function IfType({ type }: { readonly type: number }) {
  const { word, detail } = ifTypeLabel(type);
  return (
    <>
      {word} <span class="aside">{detail}</span>
    </>
  );
}

/** Far end of a link. */
function farEndOf(value: unknown): { readonly type: "Host" | "IfEntry"; readonly id: string } | null {
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  return (type === "Host" || type === "IfEntry") && typeof id === "string" ? { type, id } : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  // Chassis or port id with its LLDP subtype.
  const { subtype, value: inner } = value as { readonly subtype?: unknown; readonly value?: unknown };
  if (typeof subtype === "string" && typeof inner === "string") return inner;
  // Source of a record.
  const { type } = value as { readonly type?: unknown };
  if (typeof type === "string" && Object.keys(value as object).length === 1) return type;
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isList ? value.join(", ") : JSON.stringify(value);
}
