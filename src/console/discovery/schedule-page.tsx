// Schedule page at the URL's timestamp: scope, next run, and resulting scans.

import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { DueTimes } from "../components/due-times.tsx";
import { Fact } from "../components/facts.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { EditButton, EditSlot } from "../editing/edit-slot.tsx";
import { Named } from "../names/named.tsx";
import { historyPage } from "../names/record-page.ts";
import { discoveryText } from "../text/discovery.ts";
import { fieldLabel } from "../text/lists.ts";
import { atQuery, isPast } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { Scope } from "./scan-details.tsx";

type Schedule = DataOf<"/api/v1/discovery/schedules">[number];

export function SchedulePage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ id });
  const request = oneOf(read("/api/v1/discovery/schedules", { query: { ids: [id], ...atQuery() } }));
  const { data: schedule, problem, retry } = useResponse(request, { how: "refresh", id });
  if (problem?.status === 404 || (problem?.status === 400 && schedule === undefined))
    return (
      <Page title="Schedule">
        <EditSlot onSaved={retry} />
        <p>
          {isPast.value
            ? "This schedule did not exist at this time, or you don't have access to it."
            : "Schedule not found, or you don't have access to it."}{" "}
          {isPast.value && <a href={hrefHere({ at: null })}>Show it now</a>}
        </p>
      </Page>
    );
  if (schedule === undefined)
    return (
      <Page title="Schedule">
        <ResponseState problem={problem} retry={retry} />
      </Page>
    );
  return (
    <Page
      title={schedule.name}
      about={
        <>
          Schedule <Named kind="network" id={schedule.network_id} />{" "}
          {!schedule.is_enabled && <span class="label">not enabled</span>}
        </>
      }
      reads={[request.url]}
      actions={
        <>
          <EditButton kind="schedule" />
          <LinkButton label="History" href={hrefOf(historyPage("schedule", id) ?? "")} />
        </>
      }
    >
      <ResponseState data={schedule} problem={problem} retry={retry} />
      <EditSlot ownRecord={{ kind: "schedule", id, name: schedule.name }} onSaved={retry} />
      <Facts schedule={schedule} />
    </Page>
  );
}

function Facts({ schedule: { id, kind, cron, timezone, targets, is_enabled } }: { readonly schedule: Schedule }) {
  return (
    <dl class="facts">
      <Fact name="Kind">{discoveryText.kindDescriptions[kind] ?? kind}</Fact>
      <Fact name="Scope">
        <Scope targets={targets ?? null} />
        {targets != null && <span class="aside counted">{discoveryText.permitted}</span>}
      </Fact>
      <Fact name={fieldLabel("cron")}>
        <code>{cron}</code> <span class="aside">{timezone}</span>
      </Fact>
      <Fact name={fieldLabel("is_enabled")}>{is_enabled ? "yes" : "no"}</Fact>
      {/* Run times in the past are unknown. */}
      {!isPast.value && is_enabled && (
        <Fact name={fieldLabel("next_run_at")}>
          <DueTimes cron={cron} timezone={timezone} />
        </Fact>
      )}
      <Fact name="Scans">
        <a href={hrefOf(`/discovery?filter=${encodeURIComponent(`schedule_id = "${id}"`)}`)}>Scans of this schedule</a>
      </Fact>
    </dl>
  );
}
