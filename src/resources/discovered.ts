// What discovery adds to the records that it finds again and again: since when one was not seen, and what a scan says
// where a person says otherwise. Only discovery writes it.

import { Type } from "@sinclair/typebox";
import { Timestamp } from "../schemas/schemas.ts";

/** Left out where there is nothing to say. */
export interface Discoverable {
  /** From when on it counts as vanished: last seen longer ago than the network's stale_after_hours. */
  readonly stale_since?: string | undefined;
  /** Field → the value of the last scan, where a person's value stands. */
  readonly discovered?: Readonly<Record<string, unknown>> | undefined;
}

/** The same in an answer. */
export const discoverableFields = {
  stale_since: Type.Optional({
    ...Timestamp,
    description:
      "Since when it is stale: not seen for longer than the network's `stale_after_hours`. Absent if not stale.",
  }),
  discovered: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "By field, the last scan's value where it differs from what a person has set. Absent if none differs.",
    }),
  ),
};

/** What clients may send back of it, and what is then ignored. */
export const DISCOVERABLE_READ_ONLY = ["stale_since", "discovered"] as const;
