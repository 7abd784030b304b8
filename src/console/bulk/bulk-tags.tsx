// Bulk tagging. First shows the number of records that already have the tag.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { asRefusal, read } from "../api/client.ts";
import type { Saved } from "../editing/saved.ts";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { useSending } from "../forms/sending.ts";
import { isTagged, kindWords } from "../kinds/kinds.ts";
import { choicesOf, Select } from "../parts/select.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { BulkForm } from "./bulk-form.tsx";
import { type BulkScope, idsOf } from "./scope.ts";
import { tagMany } from "./writes.ts";

interface BulkTagsProps {
  readonly scope: BulkScope;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

/** Maximum number of tags offered. */
const TAGS_MAX = 1_000;

interface Standing {
  readonly tagged: readonly string[];
  readonly untagged: readonly string[];
}

export function BulkTags({ scope, onEnd }: BulkTagsProps) {
  const { kind, count } = scope;
  const words = kindWords(kind);
  const { data: tags = [] } = useAnswer(read("/api/v1/tags", { query: { order_by: "name", limit: TAGS_MAX } }));
  const [tagId, setTagId] = useState("");
  const [standing, setStanding] = useState<Standing | null>(null);
  const { isBusy, problem, send, refuse } = useSending();
  const [reason, setReason] = useState("");
  useEffect(() => {
    setStanding(null);
    refuse(null);
    if (tagId === "") return;
    let isWanted = true;
    Promise.all([idsOf(scope), idsOf(scope, `tags = "${tagId}"`)]).then(
      ([all, tagged]) => {
        if (isWanted) setStanding({ tagged, untagged: all.filter((id) => !tagged.includes(id)) });
      },
      (cause: unknown) => {
        if (isWanted) refuse(asRefusal(cause));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [tagId]);
  const write = (isAdded: boolean) => {
    if (standing === null || !isTagged(kind)) return;
    const tagging = { ids: isAdded ? standing.untagged : standing.tagged, tagId, isAdded };
    void send([tagging, reason], async (header) => {
      const sequence = await tagMany(kind, tagging, { header, headers: reasonHeader(reason) });
      onEnd({ kind, id: "", operation: "updated", sequence, merged: [] });
    });
  };
  const { tagged = [], untagged = [] } = standing ?? {};
  return (
    <BulkForm
      title={`Tags of ${counted(count, ...words)}`}
      problem={problem}
      isOfWrite={standing !== null}
      reason={standing === null ? null : reason}
      onReason={setReason}
      onCancel={() => onEnd(null)}
      buttons={
        <>
          {untagged.length > 0 && (
            <button type="button" class="primary" disabled={isBusy || lacksReason(reason)} onClick={() => write(true)}>
              Add it to {counted(untagged.length, ...words)}
            </button>
          )}{" "}
          {tagged.length > 0 && (
            <button type="button" disabled={isBusy || lacksReason(reason)} onClick={() => write(false)}>
              Take it off {counted(tagged.length, ...words)}
            </button>
          )}
        </>
      }
    >
      <p>
        <label>
          Tag <Select value={tagId} choices={[["", "choose one"], ...choicesOf(tags)]} onChoose={setTagId} />
        </label>{" "}
        <span role="status">
          {standing !== null &&
            `${groupedDigits(tagged.length)} of ${groupedDigits(tagged.length + untagged.length)} have it.`}
        </span>
      </p>
    </BulkForm>
  );
}
