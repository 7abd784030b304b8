// Button that checks whether one address responds: a scan of that address alone, without secrets.

import { useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { sentenceOf } from "../components/problem.tsx";
import { useWrite } from "../forms/use-write.ts";
import { may } from "../session/me.ts";
import { isPast, vs } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { checkAddress } from "./scan-requests.ts";

/** Most checks end within this interval. */
const POLL_MS = 700;

/** Whether addresses can be checked: never in the past. */
export function mayCheck(): boolean {
  return !isPast.value && vs.value === null && may("checkIpAddress");
}

/** @param id id of the address record */
export function CheckNow({ id, address }: { readonly id: string; readonly address: string }) {
  const [scanId, setScanId] = useState<string | null>(null);
  const { isBusy: isSending, problem, send } = useWrite();
  const response = useResponse(scanId === null ? null : read("/api/v1/discovery/scans/{id}", { path: { id: scanId } }));
  const scan = scanId === null || response.data?.id !== scanId ? undefined : response.data;
  const isActive = scanId !== null && scan?.ended_at == null;
  usePoll(response, isActive ? POLL_MS : null);
  const statusText =
    problem !== null ? sentenceOf(problem) : isSending ? "checking…" : scan !== undefined ? outcomeText(scan) : "";
  return (
    <span class="check-now">
      <ActionButton
        label="Check now"
        aria-label={`Check now: ${address}`}
        disabled={isSending || isActive}
        onClick={() => void send(id, async (header) => setScanId((await checkAddress(id, header)).id))}
      />{" "}
      <span class="aside" role="status">
        {scan === undefined ? statusText : <a href={hrefOf(`/discovery/${scan.id}`)}>{statusText}</a>}
      </span>
    </span>
  );
}

function outcomeText({ status, outcome }: DataOf<"/api/v1/discovery/scans/{id}">): string {
  if (status === "Queued") return "queued";
  if (status === "Running") return "checking…";
  if (status !== "Completed" || outcome === null) return outcome?.problem ?? "ended early";
  return outcome.hosts.found > 0 ? "responds" : "no response";
}
