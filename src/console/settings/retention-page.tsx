// Preview of a prune, and its command. Pruning itself requires a shell on the appliance.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Row } from "../forms/row.tsx";
import { Copied } from "../parts/copied.tsx";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { exactNow } from "../time/clock.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { SettingsPage } from "./settings-page.tsx";

type Preview = DataOf<"/api/v1/retention/preview">;

const KEEPS = ["none", "daily", "monthly"] as const;
type Keep = (typeof KEEPS)[number];

const DAY_MS = 86_400_000;
/** Suggested age: older history is rarely queried. */
const OFFERED_DAYS = 365;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function RetentionPage() {
  const before = parameter("before");
  const keep = KEEPS.find((each) => each === parameter("keep")) ?? "none";
  const isAsked = before !== null && may("previewRetention");
  const { data, problem, again } = useAnswer(
    isAsked ? read("/api/v1/retention/preview", { query: { before: `${before}T00:00:00Z`, keep } }) : null,
  );
  return (
    <SettingsPage title={settingsText.tabs.retention} operation="previewRetention" forbidden={settingsText.ownersAlone}>
      <p class="prose">
        All history is kept until it is pruned. This page previews what a prune would drop; it changes nothing.{" "}
        <a href="/handbook/pruning">What stays, and what answers say afterwards</a>
      </p>
      <Question key={`${before} ${keep}`} before={before} keep={keep} />
      {isAsked && problem !== undefined && <Problem problem={problem} again={again} />}
      {isAsked && data === undefined && problem === undefined && <Waiting />}
      {isAsked && data !== undefined && problem === undefined && <Result preview={data} day={before} />}
    </SettingsPage>
  );
}

const RETENTION_KEEPS = {
  none: "only the state at that date",
  daily: "the last state of each day",
  monthly: "the last state of each month",
};

function Question({ before, keep }: { readonly before: string | null; readonly keep: Keep }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    go(hrefHere({ before: String(form.get("before")), keep: String(form.get("keep")) }));
  };
  return (
    <form class="plan" onSubmit={submit}>
      <Row
        id="retention-before"
        label="Prune what happened before (00:00 UTC)"
        control={(described) => (
          <input
            {...described}
            type="date"
            name="before"
            required
            max={dayOf(exactNow())}
            defaultValue={before ?? dayOf(exactNow() - OFFERED_DAYS * DAY_MS)}
          />
        )}
      />
      <Row
        id="retention-keep"
        label="What stays of it"
        control={(described) => (
          <Select
            {...described}
            name="keep"
            value={keep}
            choices={KEEPS.map((each) => [each, RETENTION_KEEPS[each]])}
          />
        )}
      />
      <p>
        <button type="submit" class="primary">
          Preview
        </button>
      </p>
    </form>
  );
}

function Result({ preview, day }: { readonly preview: Preview; readonly day: string }) {
  const { keep, versions, dropped, dropped_bytes, states_kept, credential_notes_dropped, segments } = preview;
  const command = `netledger prune --data DIR --before ${day}${keep === "none" ? "" : ` --keep ${keep}`}`;
  return (
    <section class="part" role="status">
      <h2>What it would drop</h2>
      {dropped === 0 && <p>Nothing would be dropped.</p>}
      <dl class="facts">
        <Fact name="Versions looked at">{groupedDigits(versions)}</Fact>
        {dropped > 0 && (
          <>
            <Fact name="Dropped">
              {counted(dropped, "version", "versions")}, {sizeText(dropped_bytes)} of documents
            </Fact>
            <Fact name="Stays">{counted(states_kept, "state", "states")}</Fact>
          </>
        )}
        {credential_notes_dropped > 0 && (
          <Fact name="Notes of where credentials were sent, dropped">{groupedDigits(credential_notes_dropped)}</Fact>
        )}
        {dropped > 0 && segments.length > 0 && (
          <Fact name="Thinned afterwards">
            <ul class="settings-list">
              {segments.map(({ first, last, resolution }) => (
                <li key={first}>
                  transactions {groupedDigits(first)} to {groupedDigits(last)}: {RETENTION_KEEPS[resolution]}
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      {dropped > 0 && (
        <>
          <h2>To do it</h2>
          <p class="prose">
            What is dropped is gone for good. Take a backup first, and stop the appliance: it is done where the data
            are, in the folder DIR. <a href={hrefOf("/settings/backups")}>Backups</a>
          </p>
          <p class="command">
            <Copied isOffered text={command} />
          </p>
          <p class="prose aside">
            With --vacuum the file is rewritten afterwards; until then what was dropped can be recovered from its unused
            pages.
          </p>
        </>
      )}
    </section>
  );
}
