// Changed record, shown by kind and name and linked to its page.

import { kindWords } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { anyRecordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { subject } from "../time/subject.ts";
import { hrefOf } from "../url/location.ts";

interface ChangedSubjectProps {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** Instant of the linked page; null for now. */
  readonly at: string | null;
  /** Host of a part, since the part's name alone is ambiguous. */
  readonly hostId: string | null;
  /** Replaces the word for its kind. */
  readonly word?: string | undefined;
}

/** Kind and name of a record, linked to its page, if it has one, at the given timestamp. */
export function ChangedSubject({ type, id, name, at, hostId, word }: ChangedSubjectProps) {
  const page = anyRecordPage(type, id);
  // On a host's page, the host is implied.
  const isHostImplied = hostId === null || hostId === subject.value.host_id;
  const label = <bdi>{shownName(id, name)}</bdi>;
  return (
    <>
      <span class="aside">{word ?? kindWords(type)[0]}</span>{" "}
      {page === null ? label : <a href={hrefOf(page, { at })}>{label}</a>}
      {!isHostImplied && (
        <>
          {" "}
          of <Named kind="host" id={hostId} as={at} />
        </>
      )}
    </>
  );
}
