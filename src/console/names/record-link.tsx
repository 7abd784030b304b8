// Link to a record whose name is known.

import { useContext } from "preact/hooks";
import { hrefOf } from "../url/location.ts";
import { NamedAsOf } from "./named.tsx";
import { anyRecordPage } from "./record-page.ts";
import { shownName } from "./shown-name.ts";

interface RecordLinkProps {
  /** API name of its kind. */
  readonly type: string;
  readonly id: string;
  readonly name: string | null;
  /** Instant other than that in the URL; null for now. */
  readonly at?: string | null;
}

export function RecordLink({ type, id, name, at }: RecordLinkProps) {
  const label = <bdi>{shownName(id, name)}</bdi>;
  const page = anyRecordPage(type, id);
  const context = useContext(NamedAsOf);
  const instant = at === undefined ? context?.at : at;
  return page === null ? label : <a href={hrefOf(page, { at: instant, vs: context?.vs })}>{label}</a>;
}
