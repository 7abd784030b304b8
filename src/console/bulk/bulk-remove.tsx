// Bulk delete, all or nothing. Reports dependent records before deleting them too.

import { useEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import type { Saved } from "../editing/saved.ts";
import { lacksReason } from "../forms/reason.ts";
import { newRequestKey } from "../forms/request-key.ts";
import { kindWords, loadedDetails } from "../kinds/kinds.ts";
import { bulkText } from "../text/bulk.ts";
import { editText } from "../text/editing.ts";
import { BulkForm } from "./bulk-form.tsx";
import { type BulkScope, idsOf } from "./scope.ts";
import { deleteMany } from "./writes.ts";

interface BulkRemoveProps {
  readonly scope: BulkScope;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

export function BulkRemove({ scope, onEnd }: BulkRemoveProps) {
  const { kind } = scope;
  const words = kindWords(kind);
  const [ids, setIds] = useState<readonly string[] | null>(scope.ids);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  // Set once dependents are known, and kept after a lost response, so that a retry sends the same request.
  const [isUsed, setUsed] = useState(false);
  const sent = useRef({ text: "", key: "" });
  // Resolves the filter once: exactly these records are deleted, not later matches.
  useEffect(() => {
    if (ids === null) idsOf(scope).then(setIds, (cause: unknown) => setProblem(asRefusal(cause)));
  }, []);
  const remove = async () => {
    if (ids === null || isBusy) return;
    setBusy(true);
    setProblem(null);
    const text = JSON.stringify([ids, isUsed, reason]);
    if (sent.current.text !== text) sent.current = { text, key: newRequestKey() };
    const { key } = sent.current;
    try {
      const sequence = await deleteMany(kind, { ids, cascade: isUsed }, { reason, key });
      onEnd({ kind, id: "", operation: "deleted", sequence, merged: [] });
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.code === "entity_in_use") setUsed(true);
      setProblem(refusal.code === "entity_in_use" ? inWords(refusal) : refusal);
      setBusy(false);
    }
  };
  const removal = loadedDetails(kind)?.removal?.[1];
  const count = ids?.length ?? scope.count;
  return (
    <BulkForm
      title={bulkText.deleteTitle(count, words)}
      problem={problem}
      isOfWrite={ids !== null}
      reason={reason}
      onReason={setReason}
      onCancel={() => onEnd(null)}
      buttons={
        <button
          type="button"
          class="danger"
          disabled={isBusy || ids === null || lacksReason(reason)}
          onClick={() => void remove()}
        >
          {isUsed ? editText.deleteAll : bulkText.deleteTitle(count, words)}
        </button>
      }
    >
      <p>
        {removal !== undefined && `${removal} `}
        {editText.deleteHelp}
      </p>
    </BulkForm>
  );
}

/** Refusal of a used record, without the name of the API parameter. */
function inWords({ status, code, message, requestId }: Refusal): Refusal {
  return new Refusal({ status, code, message: editText.inUse(message), requestId });
}
