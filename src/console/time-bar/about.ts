// Scope of the changes shown in the time bar, as an API query.

import { computed } from "@preact/signals";
import { network } from "../time/at.ts";
import { subject } from "../time/subject.ts";

export interface AboutQuery {
  host_id?: string;
  subnet_id?: string;
  id?: string;
  network_id?: string;
}

/** Subject of the page, else the network of the address, else everything. */
export const aboutQuery = computed<AboutQuery>(() => {
  if (Object.keys(subject.value).length > 0) return { ...subject.value };
  return network.value === null ? {} : { network_id: network.value };
});
