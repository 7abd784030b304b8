// Actions on a scan: cancel it while running or queued, commit a dry run, or repeat it.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ActionButton, LinkButton, SubmitButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { ReasonRow } from "../forms/reason-input.tsx";
import { useWrite } from "../forms/use-write.ts";
import { scanHref } from "../scanning/scan-link.ts";
import { cancelScan, startScan } from "../scanning/scan-requests.ts";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { go, hrefOf } from "../url/location.ts";
import { isActive, type ScanData } from "./scan-details.tsx";

/** Shows nothing in the past. */
export function ScanActions({ scan, onCanceled }: { readonly scan: ScanData; onCanceled(): void }) {
  if (isPast.value) return null;
  if (isActive(scan)) return may("cancelScan") ? <CancelScan id={scan.id} onCanceled={onCanceled} /> : null;
  if (!may("createScan")) return null;
  if (!scan.commit && scan.status === "Completed") return <Commit scan={scan} />;
  return null;
}

/** Link on a finished scan to the form for a new scan, filled with the same parameters. */
export function ScanAgain({ scan }: { readonly scan: ScanData }) {
  if (isPast.value || isActive(scan) || !may("createScan")) return null;
  const { network_id: networkId, kind, targets } = scan;
  return <LinkButton label="Scan again…" href={scanHref({ networkId, kind, targets })} />;
}

function CancelScan({ id, onCanceled }: { readonly id: string; onCanceled(): void }) {
  const { isBusy, problem, send } = useWrite();
  const cancel = () =>
    void send(id, async () => {
      await cancelScan(id).catch((cause: unknown) => {
        // The scan had already ended.
        if (asRefusal(cause).status !== 409) throw cause;
      });
      onCanceled();
    });
  return (
    <>
      {problem !== null && <Problem problem={problem} retry={cancel} />}
      <p class="scan-action">
        <ActionButton label={isBusy ? "Canceling…" : "Cancel this scan"} disabled={isBusy} onClick={cancel} />{" "}
        <span class="aside">Records already written stay.</span>
      </p>
    </>
  );
}

function Commit({ scan }: { readonly scan: ScanData }) {
  const [reason, setReason] = useState(scan.reason ?? "");
  const { isBusy, problem, send } = useWrite();
  const { network_id, kind, targets, allow_large } = scan;
  const commit = (event: SubmitEvent) => {
    event.preventDefault();
    void send(reason, async (header) => {
      const { id } = await startScan({ network_id, kind, targets, allow_large, commit: true }, reason, header);
      go(hrefOf(`/discovery/${id}`));
    });
  };
  return (
    <form class="plan" aria-label="Run for real" onSubmit={commit}>
      {problem !== null && <Problem problem={problem} />}
      <p>Scans everything again and saves the current state. Changes made by a scan can be undone.</p>
      <ReasonRow id="scan-commit-why" label="Why" isRequired={false} reason={reason} onReason={setReason} />
      <p>
        <SubmitButton label={isBusy ? "Starting…" : "Run for real"} disabled={isBusy} />
      </p>
    </form>
  );
}
