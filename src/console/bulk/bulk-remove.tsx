// Bulk delete, all or nothing. Reports dependent records before deleting those too.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { savedMany } from "../editing/saved.ts";
import { lacksReason, reasonHeader } from "../forms/reason.ts";
import { useWrite } from "../forms/use-write.ts";
import { kindWords, loadedDetails } from "../kinds/kinds.ts";
import { counted } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { BulkForm } from "./bulk-form.tsx";
import { type BulkOperation, idsOf } from "./scope.ts";
import { deleteMany } from "./writes.ts";

export function BulkRemove({ scope, onEnd }: BulkOperation) {
  const { kind } = scope;
  const [ids, setIds] = useState<readonly string[] | null>(scope.ids);
  const { isBusy, problem, send, refuse } = useWrite();
  const [reason, setReason] = useState("");
  // Set once dependents are reported. Kept if the outcome is unknown, so that a retry sends an identical request.
  const [hasDependents, setHasDependents] = useState(false);
  // Resolves the filter once: exactly these records are deleted, not later matches.
  useEffect(() => {
    if (ids === null) idsOf(scope).then(setIds, (cause: unknown) => refuse(asRefusal(cause)));
  }, []);
  const [isIgnoring, setIgnoring] = useState(false);
  const remove = () => {
    if (ids === null) return;
    void send([ids, hasDependents, isIgnoring, reason], async (header) => {
      try {
        const headers = { header, headers: reasonHeader(reason) };
        const asked = { ids, cascade: hasDependents, ignore: isIgnoring };
        onEnd(savedMany(kind, "deleted", await deleteMany(kind, asked, headers)));
      } catch (cause) {
        const refusal = asRefusal(cause);
        if (refusal.code !== "entity_in_use") throw refusal;
        setHasDependents(true);
        // The API's message names its query parameter.
        throw new Refusal({ ...refusal, message: editText.inUse(refusal.message) });
      }
    });
  };
  const details = loadedDetails(kind);
  const removal = details?.removal?.[1];
  const title = `Delete ${counted(ids?.length ?? scope.count, ...kindWords(kind))}`;
  return (
    <BulkForm
      title={title}
      problem={problem}
      isWriteProblem={ids !== null}
      reason={reason}
      onReason={setReason}
      onCancel={() => onEnd(null)}
      buttons={
        <button type="button" class="danger" disabled={isBusy || ids === null || lacksReason(reason)} onClick={remove}>
          {hasDependents ? "Delete anyway" : title}
        </button>
      }
    >
      <p>
        {removal !== undefined && `${removal} `}
        {editText.deleteHelp}
      </p>
      {details?.isDiscovered === true && (
        <div>
          <label class="settings-box">
            <input
              type="checkbox"
              checked={isIgnoring}
              aria-describedby="bulk-ignore-help"
              onChange={(event) => setIgnoring(event.currentTarget.checked)}
            />{" "}
            {editText.ignoreMany}
          </label>
          <p class="aside" id="bulk-ignore-help">
            {editText.ignoreManyHelp}
          </p>
        </div>
      )}
    </BulkForm>
  );
}
