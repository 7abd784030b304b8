// Names of the networks that an account or a key is limited to.

import { CommaList } from "../components/comma-list.tsx";
import { Named } from "../names/named.tsx";

export function NetworkNames({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return <>none</>;
  return (
    <CommaList items={ids} keyOf={String}>
      {(id) => <Named kind="network" id={id} />}
    </CommaList>
  );
}
