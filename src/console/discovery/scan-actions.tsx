// Actions on a scan: cancel while running or queued, commit a dry run, repeat.

import { useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { REASON_MAX_LENGTH } from "../forms/reason.ts";
import { newRequestKey } from "../forms/request-key.ts";
import { Problem } from "../parts/problem.tsx";
import { scanHref } from "../scanning/scan-link.ts";
import { endScan, startScan } from "../scanning/scan-requests.ts";
import { may } from "../session/me.ts";
import { scanningText } from "../text/scanning.ts";
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
      {scanningText.again}
    </a>
  );
}

function End({ id, onEnded }: { readonly id: string; onEnded(): void }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const end = () => {
    setBusy(true);
    setProblem(null);
    endScan(id)
      .then(onEnded)
      .catch((cause: unknown) => {
        const refusal = asRefusal(cause);
        // The scan had already ended.
        if (refusal.status === 409) onEnded();
        else setProblem(refusal);
      })
      .finally(() => setBusy(false));
  };
  return (
    <>
      {problem !== null && <Problem problem={problem} again={end} />}
      <p class="scan-action">
        <button type="button" disabled={isBusy} onClick={end}>
          {isBusy ? scanningText.cancelling : scanningText.cancelScan}
        </button>{" "}
        <span class="aside">{scanningText.cancelSays}</span>
      </p>
    </>
  );
}

function Commit({ scan }: { readonly scan: ScanData }) {
  const [reason, setReason] = useState(scan.reason ?? "");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const key = useRef(newRequestKey());
  const commit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    const { network_id, kind, targets, allow_large } = scan;
    try {
      const { id } = await startScan({ network_id, kind, targets, allow_large, commit: true }, reason, key.current);
      go(hrefOf(`/discovery/${id}`));
    } catch (cause) {
      setProblem(asRefusal(cause));
      setBusy(false);
    }
  };
  return (
    <form class="plan" aria-label={scanningText.commit} onSubmit={(event) => void commit(event)}>
      {problem !== null && <Problem problem={problem} />}
      <p>{scanningText.commitSays}</p>
      <p class="plan-reason">
        <label for="scan-commit-why">{scanningText.why}</label>
        <input
          id="scan-commit-why"
          type="text"
          maxLength={REASON_MAX_LENGTH}
          value={reason}
          onInput={({ currentTarget: { value } }) => {
            setReason(value);
            // A different reason makes a different request.
            key.current = newRequestKey();
          }}
        />
      </p>
      <p>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? scanningText.starting : scanningText.commit}
        </button>
      </p>
    </form>
  );
}
