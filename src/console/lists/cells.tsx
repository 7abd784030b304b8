// List cells, rendered according to the field type or to the style that the kind defines.

import type { ComponentChildren } from "preact";
import { quoted } from "../api/filter-text.ts";
import { Copied } from "../components/copied.tsx";
import { Fill } from "../components/fill.tsx";
import { Status } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { Value } from "../field-values/value.tsx";
import type { CellStyle } from "../kinds/details.ts";
import { kindWords } from "../kinds/kinds.ts";
import { displayName } from "../names/display-name.ts";
import { RecordLink } from "../names/record-link.tsx";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { Tags } from "../names/tags.tsx";
import { discoveryText } from "../text/discovery.ts";
import { ownValue } from "../text/own-value.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";
import type { PlannedColumn } from "./columns.ts";
import { withCondition } from "./conditions.ts";

/** A record in any list. */
export type ListRow = Readonly<Record<string, unknown>> & { readonly id: string };

/** Cell renderer for a column; empty for a field without a value. */
export function cellOf(kind: string, { key, type, style }: PlannedColumn): (row: ListRow) => ComponentChildren {
  return (row) => {
    const value = ownValue(row, key);
    if (style !== undefined) return STYLES[style](value, row, kind);
    if (value === null || value === undefined || value === "") return null;
    if (type === "boolean") return value === true ? "yes" : "";
    if (type === "text" || type === "choice") return <Text text={String(value)} />;
    return Array.isArray(value) ? <SeveralValues field={key} values={value} /> : <Value field={key} value={value} />;
  };
}

function SeveralValues({ field, values }: { readonly field: string; readonly values: readonly unknown[] }) {
  if (values.length === 0) return null;
  if (field === "tags") return <Tags ids={values.map(String)} hrefOf={tagFilterHref} />;
  return (
    <FirstItem items={values}>
      <Value field={field} value={values[0]} />
    </FirstItem>
  );
}

type ShowCell = (value: unknown, row: ListRow, kind: string) => ComponentChildren;

const STYLES: Readonly<Record<CellStyle, ShowCell>> = {
  page: (value, row, kind) => (
    <RecordLink type={kind} id={row.id} name={shownName(row.id, String(value ?? ""), displayName(kind, row))} />
  ),
  copied: (value) => (value ? <Copied text={String(value)} /> : null),
  addresses: (value = []) => {
    const addresses = value as readonly { readonly ip_address: string }[];
    return (
      <FirstItem items={addresses}>
        <Copied text={addresses[0]?.ip_address ?? ""} />
      </FirstItem>
    );
  },
  status: (value) => <Status status={String(value)} />,
  count: (value) => (Array.isArray(value) && value.length > 0 ? value.length : null),
  fill: (value) => value !== undefined && <Fill {...(value as Parameters<typeof Fill>[0])} />,
  code: (value) => <code>{String(value)}</code>,
  minute: (value) => typeof value === "string" && <When instant={value} precision="minute" />,
  yesNo: (value) => (value === true ? "yes" : "no"),
  kind: (value) => kindWords(String(value))[0],
  kinds: (value) => (value as readonly string[]).map((name) => kindWords(name)[1]).join(", "),
  tagged: (value, { color }) => (
    <>
      <span class={`tag-color tag-${String(color)}`} aria-hidden="true" /> <Text text={String(value)} />
    </>
  ),
  plain: (value) => <Text text={[value ?? []].flat().map(String).join(", ")} />,
  scanKind: (value) => ownValue(discoveryText.kinds, String(value)) ?? String(value),
  targets: (value) => {
    if (!Array.isArray(value)) return <span class="aside">its subnets</span>;
    return <FirstItem items={value}>{value[0]}</FirstItem>;
  },
  removed: (value, { entity, record_id, created_at }) => {
    const text = <Text text={String(value)} />;
    const page = recordPage(String(entity), String(record_id));
    if (page === null) return text;
    // The record existed until its deletion, so link to the millisecond before.
    return <a href={hrefOf(page, { at: formatUtc((parseInstant(String(created_at)) ?? 0) - 1) })}>{text}</a>;
  },
};

/** Text from the network, isolated so that its writing direction does not affect the surrounding text. */
function Text({ text }: { readonly text: string }) {
  return text === "" ? null : <bdi title={text}>{text}</bdi>;
}

/** The first of several items, and how many more there are. */
function FirstItem({ items, children }: { readonly items: readonly unknown[]; readonly children: ComponentChildren }) {
  if (items.length === 0) return null;
  return (
    <>
      {children}
      {items.length > 1 && <span class="aside"> +{items.length - 1}</span>}
    </>
  );
}

/** URL of this list with the tag added to its filter. */
function tagFilterHref(name: string): string {
  const filter = parameter("filter") ?? "";
  const condition = `tags.name = ${quoted(name)}`;
  return hrefHere({ filter: filter.includes(condition) ? filter : withCondition(filter, condition) });
}
