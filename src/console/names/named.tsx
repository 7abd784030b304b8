// Reference to a record by name, linked to its page at the shown timestamp.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { RecordKind } from "../kinds/kinds.ts";
import { at } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { nameOf } from "./names.ts";
import { recordPage } from "./record-page.ts";
import { shownName } from "./shown-name.ts";

/** Overrides the timestamp of names and links inside, for comparisons. With `vs`, links lead to a comparison. */
export const NamedAsOf = createContext<{ readonly at: string | null; readonly vs?: string } | null>(null);

interface NamedProps {
  readonly kind: RecordKind;
  readonly id: string;
  /** Instant other than that in the URL. */
  readonly as?: string | null | undefined;
}

export function Named({ kind, id, as: ownInstant }: NamedProps) {
  const context = useContext(NamedAsOf);
  const as = ownInstant !== undefined ? ownInstant : context !== null ? context.at : at.value;
  const name = nameOf(kind, id, as);
  // The end of an id distinguishes it; its beginning is a timestamp.
  const label = name === undefined ? "…" : shownName(id, name);
  const page = recordPage(kind, id);
  if (page === null) return <bdi title={id}>{label}</bdi>;
  return (
    <a
      href={hrefOf(page, { ...(as === at.value ? {} : { at: as }), vs: context?.vs })}
      title={name === null ? id : undefined}
    >
      <bdi>{label}</bdi>
    </a>
  );
}
