// Nightly schedule that repeats the first scan: created with one click, shown with its next run times.

import { api, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { DueTimes } from "../components/due-times.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Problem } from "../components/problem.tsx";
import type { ScanData } from "../discovery/scan-details.tsx";
import { reasonHeader } from "../forms/reason.ts";
import { useWrite } from "../forms/use-write.ts";
import { isAnyLarge } from "../scanning/targets.ts";
import { may } from "../session/me.ts";
import { wizardText } from "../text/first-run.ts";
import { ownZone } from "../time/zone.ts";
import { hrefOf } from "../url/location.ts";
import type { Network } from "./scan-targets.ts";

/** At night, and not on the hour, when other jobs start. */
const CRON = "17 2 * * *";

export function Nightly({ scan, network }: { readonly scan: ScanData; readonly network: Network }) {
  const query = { filter: `network_id = "${network.id}"`, limit: 5, order_by: "name" } as const;
  const live = { how: "refresh", types: ["schedule"] } as const;
  const { data, retry, isLoading } = useResponse(read("/api/v1/discovery/schedules", { query }), live);
  const { isBusy, problem, send } = useWrite();
  if (data === undefined) return null;
  if (data.length > 0)
    return (
      <div>
        {data.map(({ id, name, cron, timezone }) => (
          <div key={id}>
            <p>
              Scheduled: <NameLink href={hrefOf(`/discovery/schedules/${id}`)} name={name} />
            </p>
            {/* For several schedules, their own pages show the times. */}
            {data.length === 1 && <DueTimes cron={cron} timezone={timezone} />}
          </div>
        ))}
      </div>
    );
  if (!may("createSchedule")) return null;
  const { targets, kind } = scan;
  if (targets !== null && isAnyLarge(targets))
    return <p class="prose">Targets larger than /16 are not scheduled. Create a schedule with smaller subnets.</p>;
  const zone = ownZone();
  const body = { network_id: network.id, name: "Every night", kind, cron: CRON, timezone: zone, targets };
  const headers = reasonHeader(wizardText.reason);
  const create = () =>
    void send(body, async (header) => {
      await unwrap(api.POST("/api/v1/discovery/schedules", { params: { header }, headers, body }));
      retry();
    });
  return (
    <div>
      {problem !== null && <Problem problem={problem} />}
      <p>Repeat this scan automatically:</p>
      <DueTimes cron={CRON} timezone={zone} />
      <p>
        <button type="button" disabled={isBusy || isLoading} onClick={create}>
          {isBusy ? "Saving…" : "Scan this every night"}
        </button>
      </p>
    </div>
  );
}
