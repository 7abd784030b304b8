// Long read behind GET /api/v1/retention/preview: the effect of `netledger prune`. Read-only.

import type { Actor } from "../access/actor.ts";
import { formatInstant } from "../base/instant.ts";
import { longRead, PAUSE } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { PruneOrder } from "../db/thinning.ts";
import { META, successBody } from "../schemas/envelope.ts";
import { planSteps } from "./prune-plan.ts";

/** Plain data: it crosses to another thread. */
export interface RetentionInput {
  readonly actor: Actor;
  readonly order: PruneOrder;
}

export const retentionPreview = longRead(
  "retention preview",
  function* (reader: Reader, { order: { before, keep } }: RetentionInput) {
    const steps = planSteps({ $client: reader.db }, { before, keep });
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        const { segments, versions, dropped, droppedBytes, states, coverage } = step.value;
        const data = {
          before: formatInstant(before),
          keep,
          versions,
          dropped,
          dropped_bytes: droppedBytes,
          states_kept: states,
          credential_notes_dropped: coverage,
          segments: segments.map(({ first, last, resolution }) => ({ first, last, resolution })),
        };
        yield encoder.encode(successBody(JSON.stringify(data), META));
        return;
      }
      yield PAUSE;
    }
  },
);

const encoder = new TextEncoder();
