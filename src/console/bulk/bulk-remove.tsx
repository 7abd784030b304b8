// Bulk delete, all or nothing. Reports dependent records before deleting them too.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import type { Saved } from "../editing/saved.ts";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { useSending } from "../forms/sending.ts";
import { kindWords, loadedDetails } from "../kinds/kinds.ts";
import { counted, type Words } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { BulkForm } from "./bulk-form.tsx";
import { type BulkScope, idsOf } from "./scope.ts";
import { deleteMany } from "./writes.ts";

interface BulkRemoveProps {
  readonly scope: BulkScope;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

const deleteTitle = (count: number, words: Words) => `Delete ${counted(count, ...words)}`;

export function BulkRemove({ scope, onEnd }: BulkRemoveProps) {
  const { kind } = scope;
  const words = kindWords(kind);
  const [ids, setIds] = useState<readonly string[] | null>(scope.ids);
  const { isBusy, problem, send, refuse } = useSending();
  const [reason, setReason] = useState("");
  // Set once dependents are known, and kept after a lost response, so that a retry sends the same request.
  const [isUsed, setUsed] = useState(false);
  // Resolves the filter once: exactly these records are deleted, not later matches.
  useEffect(() => {
    if (ids === null) idsOf(scope).then(setIds, (cause: unknown) => refuse(asRefusal(cause)));
  }, []);
  const remove = () => {
    if (ids === null) return;
    void send([ids, isUsed, reason], async (header) => {
      try {
        const sequence = await deleteMany(kind, { ids, cascade: isUsed }, { header, headers: reasonHeader(reason) });
        onEnd({ kind, id: "", operation: "deleted", sequence, merged: [] });
      } catch (cause) {
        const refusal = asRefusal(cause);
        if (refusal.code !== "entity_in_use") throw refusal;
        setUsed(true);
        // Without the name of the API parameter.
        throw new Refusal({ ...refusal, message: editText.inUse(refusal.message) });
      }
    });
  };
  const removal = loadedDetails(kind)?.removal?.[1];
  const count = ids?.length ?? scope.count;
  return (
    <BulkForm
      title={deleteTitle(count, words)}
      problem={problem}
      isOfWrite={ids !== null}
      reason={reason}
      onReason={setReason}
      onCancel={() => onEnd(null)}
      buttons={
        <button type="button" class="danger" disabled={isBusy || ids === null || lacksReason(reason)} onClick={remove}>
          {isUsed ? "Delete all the same" : deleteTitle(count, words)}
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
