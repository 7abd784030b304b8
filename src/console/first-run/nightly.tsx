// Nightly schedule for the scan just made: created with one click, shown with its next run times.

import { useAnswer } from "../api/answer.ts";
import { api, done, read } from "../api/client.ts";
import type { ScanData } from "../discovery/scan-words.tsx";
import { reasonHeader } from "../forms/reason.ts";
import { useSending } from "../forms/sending.ts";
import { DueTimes } from "../parts/due-times.tsx";
import { Problem } from "../parts/problem.tsx";
import { areLarge } from "../scanning/targets.ts";
import { may } from "../session/me.ts";
import { wayText } from "../text/first-run.ts";
import { ownZone } from "../time/zone.ts";
import { hrefOf } from "../url/location.ts";
import type { Network } from "./chosen.ts";

/** At night, and off the hour, when other jobs start. */
const CRON = "17 2 * * *";

export function Nightly({ scan, of }: { readonly scan: ScanData; readonly of: Network }) {
  const query = { filter: `network_id = "${of.id}"`, limit: 5, order_by: "name" } as const;
  const { data, again, isLoading } = useAnswer(read("/api/v1/discovery/schedules", { query }), {
    how: "refresh",
    types: ["schedule"],
  });
  const { isBusy, problem, send } = useSending();
  if (data === undefined) return null;
  if (data.length > 0)
    return (
      <div>
        {data.map(({ id, name, cron, timezone }) => (
          <div key={id}>
            <p>
              Scanned by itself:{" "}
              <a href={hrefOf(`/discovery/schedules/${id}`)}>
                <bdi>{name}</bdi>
              </a>
            </p>
            {/* With several schedules, the times are on their pages. */}
            {data.length === 1 && <DueTimes cron={cron} timezone={timezone} />}
          </div>
        ))}
      </div>
    );
  if (!may("createSchedule")) return null;
  const { targets, kind } = scan;
  if (targets !== null && areLarge(targets))
    return <p class="prose">What is larger than /16 is not scanned by itself: make a schedule of smaller subnets.</p>;
  const zone = ownZone();
  const body = { network_id: of.id, name: "Every night", kind, cron: CRON, timezone: zone, targets };
  const headers = reasonHeader(wayText.reason);
  const make = () =>
    void send(body, async (header) => {
      await done(api.POST("/api/v1/discovery/schedules", { params: { header }, headers, body }));
      again();
    });
  return (
    <div>
      {problem !== null && <Problem problem={problem} />}
      <p>The same scan, of the same addresses, by itself:</p>
      <DueTimes cron={CRON} timezone={zone} />
      <p>
        <button type="button" disabled={isBusy || isLoading} onClick={make}>
          {isBusy ? "Saving…" : "Scan this every night"}
        </button>
      </p>
    </div>
  );
}
