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
import { groupedDigits } from "../text/digits.ts";
import { retentionText } from "../text/retention.ts";
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
        {retentionText.says} <a href="/handbook/pruning">{retentionText.handbook}</a>
      </p>
      <Question key={`${before} ${keep}`} before={before} keep={keep} />
      {isAsked && problem !== undefined && <Problem problem={problem} again={again} />}
      {isAsked && data === undefined && problem === undefined && <Waiting />}
      {isAsked && data !== undefined && problem === undefined && <Result preview={data} day={before} />}
    </SettingsPage>
  );
}

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
        label={retentionText.before}
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
        label={retentionText.keep}
        control={(described) => (
          <Select
            {...described}
            name="keep"
            value={keep}
            choices={KEEPS.map((each) => [each, retentionText.keeps[each]])}
          />
        )}
      />
      <p>
        <button type="submit" class="primary">
          {retentionText.preview}
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
      <h2>{retentionText.result}</h2>
      {dropped === 0 && <p>{retentionText.nothing}</p>}
      <dl class="facts">
        <Fact name={retentionText.versions}>{groupedDigits(versions)}</Fact>
        {dropped > 0 && (
          <>
            <Fact name={retentionText.dropped}>{retentionText.droppedOf(dropped, sizeText(dropped_bytes))}</Fact>
            <Fact name={retentionText.kept}>{retentionText.keptStates(states_kept)}</Fact>
          </>
        )}
        {credential_notes_dropped > 0 && (
          <Fact name={retentionText.notes}>{groupedDigits(credential_notes_dropped)}</Fact>
        )}
        {dropped > 0 && segments.length > 0 && (
          <Fact name={retentionText.segments}>
            <ul class="settings-list">
              {segments.map(({ first, last, resolution }) => (
                <li key={first}>{retentionText.segment(first, last, retentionText.keeps[resolution])}</li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      {dropped > 0 && (
        <>
          <h2>{retentionText.doIt}</h2>
          <p class="prose">
            {retentionText.forGood} <a href={hrefOf("/settings/backups")}>{retentionText.backups}</a>
          </p>
          <p class="command">
            <Copied isOffered text={command} />
          </p>
          <p class="prose aside">{retentionText.vacuum}</p>
        </>
      )}
    </section>
  );
}
