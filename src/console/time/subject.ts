// Page subject: the time bar counts its changes, and `[` and `]` step through them.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** API filter of activity and transactions. Empty for all records, or all of the network in the URL. */
export interface Subject {
  readonly host_id?: string;
  readonly subnet_id?: string;
  /** Id of any single record; its parts are excluded. */
  readonly id?: string;
}

const ALL: Subject = {};

export const subject = signal<Subject>(ALL);

/** False until the first page is loaded, which may declare a subject. */
export const isSubjectKnown = signal(false);

/** Sets the subject of the page while the component is mounted. */
export function useSubject({ host_id, subnet_id, id }: Subject): void {
  useEffect(() => {
    subject.value = {
      ...(host_id === undefined ? {} : { host_id }),
      ...(subnet_id === undefined ? {} : { subnet_id }),
      ...(id === undefined ? {} : { id }),
    };
    return () => {
      subject.value = ALL;
    };
  }, [host_id, subnet_id, id]);
}
