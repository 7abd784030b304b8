// Hosts merged into the shown one, with name, time of the merge, and link to the last state.

import { Fact } from "../components/facts.tsx";
import { NameLink } from "../components/name-link.tsx";
import { When } from "../components/when.tsx";
import { displayName } from "../names/display-name.ts";
import { instantBefore } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import type { FinalHostVersion } from "./host-data.ts";

/** Row of a fact list; empty if there are no merged hosts. */
export function MergedHosts({ finalVersions }: { readonly finalVersions: readonly FinalHostVersion[] }) {
  if (finalVersions.length === 0) return null;
  return (
    <Fact name="Merged hosts">
      {finalVersions.map(({ record, transaction }) => (
        <div key={record.id}>
          <NameLink
            href={hrefOf(`/hosts/${record.id}`, { at: instantBefore(transaction.at) })}
            name={displayName("host", record)}
          />{" "}
          until <When instant={transaction.at} as="both" />
        </div>
      ))}
    </Fact>
  );
}
