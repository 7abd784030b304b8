// Long read behind GET /api/v1/retention/preview: the effect of `netledger prune`. Read-only.

import type { Actor } from "../access/actor.ts";
import { formatInstant } from "../base/instant.ts";
import { longRead, pausing, utf8 } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { PruneOptions } from "../db/thinning.ts";
import { META, successBody } from "../schemas/envelope.ts";
import { planSteps } from "./prune-plan.ts";

/** Plain data: it crosses to another thread. */
export interface RetentionInput {
  readonly actor: Actor;
  readonly options: PruneOptions;
}

export const retentionPreview = longRead("retention preview", function* (reader: Reader, { options }: RetentionInput) {
  const plan = yield* pausing(planSteps({ $client: reader.db }, options));
  const data = {
    before: formatInstant(options.before),
    keep: options.keep,
    versions: plan.versions,
    dropped: plan.dropped,
    dropped_bytes: plan.droppedBytes,
    states_kept: plan.states,
    credential_notes_dropped: plan.coverage,
    segments: plan.segments.map(({ first, last, resolution }) => ({ first, last, resolution })),
  };
  yield utf8(successBody(JSON.stringify(data), META));
});
