// Every version of one record, newest first: what it was, who made it so, and when. Also of what is gone.

import type { Actor } from "../access/actor.ts";
import type { Thinned } from "../db/pruned-history.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import { longRead } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { resourceOf } from "../inventory/resources.ts";
import {
  commaSeparated,
  LIST_HEAD,
  listMeta,
  listTail,
  resolvedMembers,
  thinnedUntilMember,
} from "../wire/envelope.ts";
import { ChangeView } from "./change-view.ts";

export interface RecordHistoryInput {
  readonly actor: Actor;
  readonly kind: string;
  readonly id: string;
  readonly n: number;
  /** Versions up to this transaction. */
  readonly until: number;
  /** Versions; 0 for all. */
  readonly limit: number;
  readonly offset: number;
  /** Hosts without their children. */
  readonly isAlone: boolean;
  /** The instant to be echoed; null where none was asked for. */
  readonly asked: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

/** Whole hosts are read one by one: each may have thousands of parts. */
const STEP_VERSIONS = 100;

/** The page as an envelope. */
export const recordHistory = longRead("record_history", function* (reader: Reader, input: RecordHistoryInput) {
  const { kind: kindName, id, n, until, limit, offset, asked } = input;
  const resource = resourceOf(kindName);
  const log = new ChangeLog(reader);
  const view = new ChangeView(reader, input.actor);
  const isWhole = !input.isAlone;
  const step = isWhole && resource.compose?.parts !== undefined ? 1 : STEP_VERSIONS;
  yield encoder.encode(LIST_HEAD);
  yield* commaSeparated(versions());
  yield encoder.encode(listTail(listMeta({ limit, offset, total: log.versionCount(n, until) }, asked, thinned())));

  function thinned(): string {
    const incompleteUntil = reader.thinnedPast.incompleteUntil(0);
    return (
      resolvedMembers(input.thinned) +
      thinnedUntilMember(incompleteUntil !== null && log.lastDropped(n, 0, until) > 0 ? incompleteUntil : null)
    );
  }

  function* versions(): Generator<Uint8Array> {
    const end = limit === 0 ? Number.POSITIVE_INFINITY : offset + limit;
    for (let place = offset; place < end; place += step) {
      const changes = log.versions(resource.kind, n, id, until, Math.min(step, end - place), place);
      for (const run of view.lightRuns(changes))
        yield encoder.encode(view.render(run, { withType: false, isWhole }).join(","));
      if (changes.length < step) return;
    }
  }
});

const encoder = new TextEncoder();
