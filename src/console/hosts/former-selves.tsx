// The hosts that have gone into this one: what each was called, until when, and the way to how it was last.

import { calledOf } from "../names/called.ts";
import { Fact } from "../parts/facts.tsx";
import { When } from "../parts/when.tsx";
import { hostText } from "../text/hosts.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import type { HostEnd } from "./host-data.ts";

interface FormerSelvesProps {
  /** The versions in which they ended, the newest first. */
  readonly ends: readonly HostEnd[];
}

/** A row of facts; nothing where there is none. */
export function FormerSelves({ ends }: FormerSelvesProps) {
  if (ends.length === 0) return null;
  return (
    <Fact name={hostText.formerSelves}>
      {ends.map(({ record, transaction }) => (
        <div key={record.id}>
          <a href={hrefOf(`/hosts/${record.id}`, { at: formatUtc((parseInstant(transaction.at) ?? 0) - 1) })}>
            <bdi>{calledOf("host", record)}</bdi>
          </a>{" "}
          {hostText.until} <When instant={transaction.at} as="both" />
        </div>
      ))}
    </Fact>
  );
}
