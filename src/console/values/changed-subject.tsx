// A record that differs, by its kind and its name, as a link to its page.

import { kindWords } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { anyRecordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { changesText } from "../text/changes.ts";
import { subject } from "../time/subject.ts";
import { hrefOf } from "../url/location.ts";

interface ChangedSubjectProps {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** The instant as of which its page is shown; null for now. */
  readonly at: string | null;
  /** Of a part of a host: its name alone does not say which it is. */
  readonly hostId: string | null;
  /** What is said for its kind, where that is not told elsewhere. */
  readonly word?: string | undefined;
}

/** A record by its name, with its kind, as a link to its page at that instant where it has one. */
export function ChangedSubject({ type, id, name, at, hostId, word }: ChangedSubjectProps) {
  const page = anyRecordPage(type, id);
  // On the page of a host it is the host's.
  const isSaid = hostId === null || hostId === subject.value.host_id;
  const shown = <bdi>{shownName(id, name)}</bdi>;
  return (
    <>
      <span class="aside">{word ?? kindWords(type)[0]}</span>{" "}
      {page === null ? shown : <a href={hrefOf(page, { at })}>{shown}</a>}
      {!isSaid && (
        <>
          {" "}
          {changesText.of} <Named kind="host" id={hostId} as={at} />
        </>
      )}
    </>
  );
}
