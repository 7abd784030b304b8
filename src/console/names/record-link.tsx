// Link to a record with a known name.

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
  /** Instant other than that of the address; null for now. */
  readonly at?: string | null;
}

export function RecordLink({ type, id, name, at }: RecordLinkProps) {
  const shown = <bdi>{shownName(id, name)}</bdi>;
  const page = anyRecordPage(type, id);
  const around = useContext(NamedAsOf);
  const as = at === undefined ? around?.at : at;
  return page === null ? shown : <a href={hrefOf(page, { at: as, vs: around?.vs })}>{shown}</a>;
}
