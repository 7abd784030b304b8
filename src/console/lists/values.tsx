// The values of fields in a cell: each sort as it is read best.

import type { ComponentChildren } from "preact";
import type { RecordKind } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { When } from "../parts/when.tsx";
import { listText } from "../text/lists.ts";

/** A text of the network: whatever direction it is written in, it turns nothing around it. */
export function Text({ text }: { readonly text: string | null | undefined }) {
  return text ? <bdi title={text}>{text}</bdi> : null;
}

export function Mac({ mac }: { readonly mac: string | null | undefined }) {
  return mac ? <Copied text={mac} /> : null;
}

export function Instant({ instant }: { readonly instant: string | null | undefined }) {
  return instant ? <When instant={instant} /> : null;
}

export function Reference({ kind, id }: { readonly kind: RecordKind; readonly id: string | null | undefined }) {
  return id ? <Named kind={kind} id={id} /> : null;
}

/** The first of several, and how many more there are. */
export function FirstOf({
  items,
  children,
}: {
  readonly items: readonly unknown[];
  readonly children: ComponentChildren;
}) {
  if (items.length === 0) return null;
  return (
    <>
      {children}
      {items.length > 1 && <span class="aside"> {listText.andMore(items.length - 1)}</span>}
    </>
  );
}
