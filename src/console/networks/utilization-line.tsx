// Utilization of a subnet over the last 30 days, as a line and as a table.

import { useContext, useEffect, useState } from "preact/hooks";
import { asRefusal, isAborted, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Unsettled } from "../api/response.ts";
import { HeadRow } from "../components/head-row.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { subnetText } from "../text/networks.ts";
import { atMs } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc, MONTH_MS, parseInstant, urlTimestamp } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";
import { instantsBetween, stepsPath } from "./address-map.ts";

/** Each timestamp requires a request. */
const INSTANTS = 11;

interface UtilizationPoint {
  readonly ms: number;
  readonly percent: number;
  readonly used: number | string;
  readonly usable: number | string;
}

interface UtilizationLineProps {
  readonly id: string;
  readonly createdAt: string;
  /** Current value on the page, updated on writes: a new value redraws the line. */
  readonly percent: number | undefined;
}

export function UtilizationLine({ id, createdAt, percent }: UtilizationLineProps) {
  const [points, setPoints] = useState<readonly UtilizationPoint[] | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const endMs = atMs.value;
  const percentNow = endMs === null ? percent : undefined;
  const isUnsettled = useContext(Unsettled);
  useEffect(() => {
    if (isUnsettled) return;
    const abort = new AbortController();
    const to = endMs ?? exactNow();
    // The subnet has no data before its creation.
    const from = Math.max(parseInstant(createdAt) ?? 0, to - MONTH_MS);
    Promise.all(instantsBetween(from, to, INSTANTS).map((ms) => pointAt(id, ms, abort.signal)))
      .then((loadedPoints) => {
        setPoints(loadedPoints.filter((point) => point !== null));
        setProblem(null);
      })
      .catch((cause: unknown) => {
        if (!isAborted(cause)) setProblem(asRefusal(cause));
      });
    return () => abort.abort();
  }, [id, createdAt, percentNow, endMs, isUnsettled]);
  if (problem !== null) return <Problem problem={problem} />;
  const [first, last] = [points?.[0], points?.at(-1)];
  if (points === null || first === undefined || last === undefined) return <Waiting />;
  return (
    <div class="utilization">
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
        <path d={stepsPath(points, { from: first.ms, to: last.ms })} />
      </svg>
      <p class="aside utilization-ends">
        <When instant={formatUtc(first.ms)} precision="minute" />
        <When instant={formatUtc(last.ms)} precision="minute" />
      </p>
      <details>
        <summary>{subnetText.percent(last.percent, last.used)}</summary>
        <table class="rows">
          <HeadRow heads={["When", "Utilization"]} />
          <tbody>
            {points.toReversed().map(({ ms, percent, used, usable }) => (
              <tr key={ms}>
                <td>
                  <a href={hrefHere({ at: urlTimestamp(ms) })}>
                    <When instant={formatUtc(ms)} precision="minute" />
                  </a>
                </td>
                <td>
                  {subnetText.percent(percent, used)} <span class="aside">{subnetText.usedOf(used, usable)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

/** Null for a timestamp between removal and restore of the subnet. */
async function pointAt(id: string, ms: number, abort: AbortSignal): Promise<UtilizationPoint | null> {
  const request = read("/api/v1/subnets", { query: { ids: [id], include: "utilization", at: formatUtc(ms) } });
  const utilization = (await request.load(abort)).data[0]?.utilization;
  return utilization === undefined
    ? null
    : { ms, percent: utilization.percent, used: utilization.used, usable: utilization.usable };
}
