// Discovery state of records: start of staleness, and scanned values overridden by manual ones. Written only by
// discovery.

import { Type } from "@sinclair/typebox";
import { Timestamp } from "../schemas/schemas.ts";

/** Fields are absent if empty. */
export interface Discoverable {
  /** Stale from this time on: not seen for longer than the network's stale_after_hours. */
  readonly stale_since?: string | undefined;
  /** Field → value of the last scan, if a manual value overrides it. */
  readonly discovered?: Readonly<Record<string, unknown>> | undefined;
}

/** Response schema. */
export const discoverableFields = {
  stale_since: Type.Optional({
    ...Timestamp,
    description: "Start of staleness: not seen for longer than the network's `stale_after_hours`. Absent if not stale.",
  }),
  discovered: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "By field, the last scan's value if it differs from the manual one. Absent if none differs.",
    }),
  ),
};

/** Fields ignored when a client sends them back. */
export const DISCOVERABLE_READ_ONLY = ["stale_since", "discovered"] as const;
