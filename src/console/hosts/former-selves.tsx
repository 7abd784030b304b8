// Hosts merged into this one, each with its name, the time of the merge, and a link to its last state.

import { calledOf } from "../names/called.ts";
import { Fact } from "../parts/facts.tsx";
import { When } from "../parts/when.tsx";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import type { HostEnd } from "./host-data.ts";

interface FormerSelvesProps {
  /** Their final versions, newest first. */
  readonly ends: readonly HostEnd[];
}

/** Row of a fact list; empty without merged hosts. */
export function FormerSelves({ ends }: FormerSelvesProps) {
  if (ends.length === 0) return null;
  return (
    <Fact name="Former selves">
      {ends.map(({ record, transaction }) => (
        <div key={record.id}>
          <a href={hrefOf(`/hosts/${record.id}`, { at: formatUtc((parseInstant(transaction.at) ?? 0) - 1) })}>
            <bdi>{calledOf("host", record)}</bdi>
          </a>{" "}
          until <When instant={transaction.at} as="both" />
        </div>
      ))}
    </Fact>
  );
}
