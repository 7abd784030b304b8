// Bulk tagging: shows how many records already have the tag, then adds or removes it.

import { useEffect, useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { choicesOf, Select } from "../components/select.tsx";
import { savedMany } from "../editing/saved.ts";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { useWrite } from "../forms/use-write.ts";
import { isTagged, kindWords } from "../kinds/kinds.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { BulkForm } from "./bulk-form.tsx";
import { type BulkOperation, idsOf } from "./scope.ts";
import { tagMany } from "./writes.ts";

/** Maximum number of tags offered. */
const TAGS_MAX = 1_000;

type TagState = Readonly<Record<"tagged" | "untagged", readonly string[]>>;

export function BulkTags({ scope, onEnd }: BulkOperation) {
  const { kind, count } = scope;
  const words = kindWords(kind);
  const { data: tags = [] } = useResponse(read("/api/v1/tags", { query: { order_by: "name", limit: TAGS_MAX } }));
  const [tagId, setTagId] = useState("");
  const [tagState, setTagState] = useState<TagState | null>(null);
  const { isBusy, problem, send, refuse } = useWrite();
  const [reason, setReason] = useState("");
  useEffect(() => {
    setTagState(null);
    refuse(null);
    if (tagId === "") return;
    let isCurrent = true;
    Promise.all([idsOf(scope), idsOf(scope, `tags = "${tagId}"`)]).then(
      ([all, tagged]) => isCurrent && setTagState({ tagged, untagged: all.filter((id) => !tagged.includes(id)) }),
      (cause: unknown) => isCurrent && refuse(asRefusal(cause)),
    );
    return () => {
      isCurrent = false;
    };
  }, [tagId]);
  const write = (isAdded: boolean) => {
    if (tagState === null || !isTagged(kind)) return;
    const tagging = { ids: isAdded ? tagState.untagged : tagState.tagged, tagId, isAdded };
    void send([tagging, reason], async (header) => {
      const headers = { header, headers: reasonHeader(reason) };
      onEnd(savedMany(kind, "updated", await tagMany(kind, tagging, headers)));
    });
  };
  const { tagged = [], untagged = [] } = tagState ?? {};
  return (
    <BulkForm
      title={`Tags of ${counted(count, ...words)}`}
      problem={problem}
      isWriteProblem={tagState !== null}
      reason={tagState === null ? null : reason}
      onReason={setReason}
      onCancel={() => onEnd(null)}
      buttons={
        <>
          {untagged.length > 0 && (
            <button type="button" class="primary" disabled={isBusy || lacksReason(reason)} onClick={() => write(true)}>
              Add to {counted(untagged.length, ...words)}
            </button>
          )}{" "}
          {tagged.length > 0 && (
            <button type="button" disabled={isBusy || lacksReason(reason)} onClick={() => write(false)}>
              Remove from {counted(tagged.length, ...words)}
            </button>
          )}
        </>
      }
    >
      <p>
        <label>
          Tag <Select value={tagId} choices={[["", "Choose a tag"], ...choicesOf(tags)]} onChoose={setTagId} />
        </label>{" "}
        <span role="status">
          {tagState !== null &&
            `${groupedDigits(tagged.length)} of ${groupedDigits(tagged.length + untagged.length)} have this tag.`}
        </span>
      </p>
    </BulkForm>
  );
}
