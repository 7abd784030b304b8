// Last known location of a device that is currently at no port, with links.

import type { components } from "#api";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";

export function LastPlace({ place }: { readonly place: components["schemas"]["LastSeen"] }) {
  return (
    <span class="aside">
      last seen at <RecordLink type="if_entry" {...place.port} /> of <RecordLink type="host" {...place.switch} /> until{" "}
      <When instant={place.until} />
    </span>
  );
}
