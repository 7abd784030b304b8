// Changed record by kind and name, linked to its page.

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
  /** Host of a part, whose name alone is ambiguous. */
  readonly hostId: string | null;
  /** Replacement for the word of its kind. */
  readonly word?: string | undefined;
}

/** Name and kind of a record, linked to its page at the instant if it has one. */
export function ChangedSubject({ type, id, name, at, hostId, word }: ChangedSubjectProps) {
  const page = anyRecordPage(type, id);
  // On a host's page, the host is implied.
  const isSaid = hostId === null || hostId === subject.value.host_id;
  const shown = <bdi>{shownName(id, name)}</bdi>;
  return (
    <>
      <span class="aside">{word ?? kindWords(type)[0]}</span>{" "}
      {page === null ? shown : <a href={hrefOf(page, { at })}>{shown}</a>}
      {!isSaid && (
        <>
          {" "}
          of <Named kind="host" id={hostId} as={at} />
        </>
      )}
    </>
  );
}
