// Actions on a scan: cancel while running or queued, commit a dry run, repeat.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { scanHref } from "../scanning/scan-link.ts";
import { endScan, startScan } from "../scanning/scan-requests.ts";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { go, hrefOf } from "../url/location.ts";
import { isUnderWay, type ScanData } from "./scan-words.tsx";

interface ScanActionsProps {
  readonly scan: ScanData;
  /** Called after the scan was canceled. */
  onEnded(): void;
}

/** Empty in the past. */
export function ScanActions({ scan, onEnded }: ScanActionsProps) {
  if (isPast.value) return null;
  if (isUnderWay(scan)) return may("cancelScan") ? <End id={scan.id} onEnded={onEnded} /> : null;
  if (!may("createScan")) return null;
  if (!scan.commit && scan.status === "Completed") return <Commit scan={scan} />;
  return null;
}

/** Link next to the name of a finished scan: a new scan with the same parameters, editable before the start. */
export function ScanAgain({ scan }: { readonly scan: ScanData }) {
  if (isPast.value || isUnderWay(scan) || !may("createScan")) return null;
  const { network_id: networkId, kind, targets } = scan;
  return (
    <a class="button" href={scanHref({ networkId, kind, targets })}>
      Scan again…
    </a>
  );
}

function End({ id, onEnded }: { readonly id: string; onEnded(): void }) {
  const { isBusy, problem, send } = useSending();
  const end = () =>
    void send(id, async () => {
      await endScan(id).catch((cause: unknown) => {
        // The scan had already ended.
        if (asRefusal(cause).status !== 409) throw cause;
      });
      onEnded();
    });
  return (
    <>
      {problem !== null && <Problem problem={problem} again={end} />}
      <p class="scan-action">
        <button type="button" disabled={isBusy} onClick={end}>
          {isBusy ? "Ending…" : "End this scan"}
        </button>{" "}
        <span class="aside">What it has written stays.</span>
      </p>
    </>
  );
}

function Commit({ scan }: { readonly scan: ScanData }) {
  const [reason, setReason] = useState(scan.reason ?? "");
  const { isBusy, problem, send } = useSending();
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
      <p>Everything is asked once more, and written as it is then. What a scan has written can be undone.</p>
      <ReasonRow id="scan-commit-why" label="Why" isDemanded={false} reason={reason} onReason={setReason} />
      <p>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Starting…" : "Run for real"}
        </button>
      </p>
    </form>
  );
}
