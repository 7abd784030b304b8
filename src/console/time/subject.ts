// What the page is about: the time bar counts its changes, and `[` and `]` lead from one of them to the next.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** As the API narrows activity and transactions; nothing in it stands for all, or for the network of the address. */
export interface Subject {
  readonly host_id?: string;
  readonly subnet_id?: string;
  /** Any one record, without its parts. */
  readonly id?: string;
}

const ALL: Subject = {};

export const subject = signal<Subject>(ALL);

/** Says what the page is about, for as long as it is there. */
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
