// Reachability check of one address, in place: a scan of that address alone, without secrets.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useSending } from "../forms/sending.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { isPast, vs } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { checkAddress } from "./scan-requests.ts";

/** Most checks end within this interval. */
const POLL_MS = 700;

/** Whether addresses can be checked: only in the present. */
export function mayCheck(): boolean {
  return !isPast.value && vs.value === null && may("checkIpAddress");
}

/** @param id id of the address record */
export function CheckNow({ id, address }: { readonly id: string; readonly address: string }) {
  const [scanId, setScanId] = useState<string | null>(null);
  const { isBusy: isSending, problem, send } = useSending();
  const answer = useAnswer(scanId === null ? null : read("/api/v1/discovery/scans/{id}", { path: { id: scanId } }));
  const scan = scanId === null || answer.data?.id !== scanId ? undefined : answer.data;
  const isUnderWay = scanId !== null && scan?.ended_at == null;
  usePoll(answer, isUnderWay ? POLL_MS : null);
  const said = problem !== null ? sentenceOf(problem) : isSending ? "asking…" : scan !== undefined ? saidOf(scan) : "";
  return (
    <span class="check-now">
      <button
        type="button"
        aria-label={`Check now: ${address}`}
        disabled={isSending || isUnderWay}
        onClick={() => void send(id, async (header) => setScanId((await checkAddress(id, header)).id))}
      >
        Check now
      </button>{" "}
      <span class="aside" role="status">
        {scan === undefined ? said : <a href={hrefOf(`/discovery/${scan.id}`)}>{said}</a>}
      </span>
    </span>
  );
}

function saidOf({ status, outcome }: DataOf<"/api/v1/discovery/scans/{id}">): string {
  if (status === "Queued") return "queued";
  if (status === "Running") return "asking…";
  if (status !== "Completed" || outcome === null) return outcome?.problem ?? "ended early";
  return outcome.hosts.found > 0 ? "answers" : "no answer";
}
