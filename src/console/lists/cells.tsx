// List cells, rendered by field type or by the style that the kind defines.

import type { ComponentChildren } from "preact";
import { quoted } from "../api/filter-text.ts";
import type { FormField } from "../forms/field.ts";
import type { CellStyle } from "../kinds/details.ts";
import { kindWords } from "../kinds/kinds.ts";
import { calledOf } from "../names/called.ts";
import { RecordLink } from "../names/record-link.tsx";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { Tags } from "../names/tags.tsx";
import { Copied } from "../parts/copied.tsx";
import { Fill } from "../parts/fill.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { discoveryText } from "../text/discovery.ts";
import { ownValue } from "../text/own-value.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { withCondition } from "./conditions.ts";

/** Record of any list. */
export type ListRow = Readonly<Record<string, unknown>> & { readonly id: string };

interface CellDetails {
  readonly kind: string;
  readonly field: string;
  readonly type: FormField["type"];
  readonly style?: CellStyle | undefined;
}

/** Renderer for a field of a row; empty for a field without a value. */
export function cellOf({ kind, field, type, style }: CellDetails): (row: ListRow) => ComponentChildren {
  return (row) => {
    const value = ownValue(row, field);
    if (style !== undefined) return STYLES[style](value, row, kind);
    if (value === null || value === undefined || value === "") return null;
    if (type === "boolean") return value === true ? "yes" : "";
    if (type === "text" || type === "choice") return <Text text={String(value)} />;
    return Array.isArray(value) ? <Several field={field} values={value} /> : <Value field={field} value={value} />;
  };
}

function Several({ field, values }: { readonly field: string; readonly values: readonly unknown[] }) {
  if (values.length === 0) return null;
  if (field === "tags") return <Tags ids={values.map(String)} hrefOf={hrefTagged} />;
  return (
    <FirstOf items={values}>
      <Value field={field} value={values[0]} />
    </FirstOf>
  );
}

type ShowCell = (value: unknown, row: ListRow, kind: string) => ComponentChildren;

const STYLES: Readonly<Record<CellStyle, ShowCell>> = {
  page: (value, row, kind) => (
    <RecordLink type={kind} id={row.id} name={shownName(row.id, String(value ?? ""), calledOf(kind, row))} />
  ),
  copied: (value) => (value ? <Copied text={String(value)} /> : null),
  addresses: (value = []) => {
    const addresses = value as readonly { readonly ip_address: string }[];
    return (
      <FirstOf items={addresses}>
        <Copied text={addresses[0]?.ip_address ?? ""} />
      </FirstOf>
    );
  },
  status: (value) => <Status status={String(value)} />,
  count: (value) => (Array.isArray(value) && value.length > 0 ? value.length : null),
  fill: (value) => value !== undefined && <Fill {...(value as Parameters<typeof Fill>[0])} />,
  code: (value) => <code>{String(value)}</code>,
  minute: (value) => typeof value === "string" && <When instant={value} precision="minute" />,
  yesNo: (value) => (value === true ? "yes" : "no"),
  kind: (value) => kindWords(String(value))[0],
  kinds: (value) => (value as readonly string[]).map((each) => kindWords(each)[1]).join(", "),
  tagged: (value, { color }) => (
    <>
      <span class={`tag-color tag-${String(color)}`} aria-hidden="true" /> <Text text={String(value)} />
    </>
  ),
  plain: (value) => <Text text={[value ?? []].flat().map(String).join(", ")} />,
  scanKind: (value) => ownValue(discoveryText.kinds, String(value)) ?? String(value),
  targets: (value) => {
    if (!Array.isArray(value)) return <span class="aside">its subnets</span>;
    return <FirstOf items={value}>{value[0]}</FirstOf>;
  },
  removed: (value, { entity, record_id, created_at }) => {
    const text = <Text text={String(value)} />;
    const page = recordPage(String(entity), String(record_id));
    if (page === null) return text;
    // The record existed until its deletion, so link to the millisecond before.
    return <a href={hrefOf(page, { at: formatUtc((parseInstant(String(created_at)) ?? 0) - 1) })}>{text}</a>;
  },
};

/** Text from the network. Isolated, so that its writing direction does not affect the surroundings. */
function Text({ text }: { readonly text: string }) {
  return text === "" ? null : <bdi title={text}>{text}</bdi>;
}

interface FirstOfProps {
  readonly items: readonly unknown[];
  readonly children: ComponentChildren;
}

/** The first of several items, and the number of others. */
function FirstOf({ items, children }: FirstOfProps) {
  if (items.length === 0) return null;
  return (
    <>
      {children}
      {items.length > 1 && <span class="aside"> +{items.length - 1}</span>}
    </>
  );
}

/** URL of this list with the tag added to its filter. */
function hrefTagged(name: string): string {
  const filter = parameter("filter") ?? "";
  const condition = `tags.name = ${quoted(name)}`;
  return hrefHere({ filter: filter.includes(condition) ? filter : withCondition(filter, condition) });
}
