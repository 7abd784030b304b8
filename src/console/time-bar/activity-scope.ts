// Scope of the changes shown in the time bar, as an API query.

import { computed } from "@preact/signals";
import { network } from "../time/at.ts";
import { type Subject, subject } from "../time/subject.ts";

export type ActivityScope = Subject & { readonly network_id?: string };

/** Subject of the page, else the network in the URL, else everything. */
export const activityScope = computed<ActivityScope>(() => {
  if (Object.keys(subject.value).length > 0) return { ...subject.value };
  return network.value === null ? {} : { network_id: network.value };
});
