// Action on a deleted record's page that makes scans ignore the record.

import { useEffect, useState } from "preact/hooks";
import { api, unwrapWrite } from "../api/client.ts";
import { ActionButton } from "../components/buttons.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import type { Headers } from "../forms/use-form.ts";
import { loadDetails, loadedDetails, type PagedKind } from "../kinds/kinds.ts";
import { WriteNote } from "../plans/write-note.tsx";
import { may } from "../session/me.ts";

/** Button for kinds that scans find; null for others, and without the permission. */
export function IgnoreRemoved({ kind, id }: { readonly kind: PagedKind; readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  const [written, setWritten] = useState<{ readonly sequence: number | null } | null>(null);
  const [details, setDetails] = useState(() => loadedDetails(kind));
  useEffect(() => {
    loadDetails(kind).then(setDetails, () => {});
  }, [kind]);
  if (details?.isDiscovered !== true || !may("ignoreRecord")) return null;
  const ignore = async ({ header, headers }: Headers) => {
    // The kinds that scans find are those that can be ignored.
    const body = { entity: kind as "host", record_id: id };
    const { sequence } = await unwrapWrite(
      api.POST("/api/v1/discovery/ignored", { params: { header }, headers, body }),
    );
    setWritten({ sequence });
    setOpen(false);
  };
  const close = () => setWritten(null);
  if (written !== null)
    return <WriteNote sentence="Scans will ignore this record." {...written} onClose={close} onUndone={close} />;
  if (isOpen)
    return (
      <ConfirmForm
        title="Ignore in scans"
        consequences={["Scans will no longer re-create this record."]}
        submitLabel="Ignore"
        run={ignore}
        onEnd={() => setOpen(false)}
      />
    );
  return (
    <p>
      <ActionButton label="Ignore in scans…" onClick={() => setOpen(true)} />
    </p>
  );
}
