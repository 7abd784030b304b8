// Preview of a prune, and its command. Pruning itself requires a shell on the appliance.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { SubmitButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { Fact } from "../components/facts.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Select } from "../components/select.tsx";
import { Row } from "../forms/row.tsx";
import { may } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { exactNow } from "../time/clock.ts";
import { DAY_MS } from "../time/instant.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { SettingsPage } from "./settings-page.tsx";

type Preview = DataOf<"/api/v1/retention/preview">;

const KEEP_OPTIONS = ["none", "daily", "monthly"] as const;
type Keep = (typeof KEEP_OPTIONS)[number];

/** Suggested age: older history is rarely queried. */
const DEFAULT_DAYS = 365;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function RetentionPage() {
  const before = parameter("before");
  const keep = KEEP_OPTIONS.find((option) => option === parameter("keep")) ?? "none";
  const isRequested = before !== null && may("previewRetention");
  const { data, problem, retry } = useResponse(
    isRequested ? read("/api/v1/retention/preview", { query: { before: `${before}T00:00:00Z`, keep } }) : null,
  );
  return (
    <SettingsPage title={settingsText.tabs.retention} operation="previewRetention" forbidden={settingsText.ownersOnly}>
      <p class="prose">
        All history is kept until it is pruned. This page previews what a prune would drop; it changes nothing.{" "}
        <a href="/handbook/pruning">What is kept, and how queries change</a>
      </p>
      <PreviewForm key={`${before} ${keep}`} before={before} keep={keep} />
      {isRequested && <ResponseState data={data} problem={problem} retry={retry} />}
      {isRequested && data !== undefined && problem === undefined && <Result preview={data} day={before} />}
    </SettingsPage>
  );
}

const KEEP_LABELS = {
  none: "only the state at that date",
  daily: "the last state of each day",
  monthly: "the last state of each month",
};

function PreviewForm({ before, keep }: { readonly before: string | null; readonly keep: Keep }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    go(hrefHere({ before: String(form.get("before")), keep: String(form.get("keep")) }));
  };
  return (
    <form class="plan" onSubmit={submit}>
      <Row
        id="retention-before"
        label="Prune history before (00:00 UTC)"
        control={(described) => (
          <input
            {...described}
            type="date"
            name="before"
            required
            max={dayOf(exactNow())}
            defaultValue={before ?? dayOf(exactNow() - DEFAULT_DAYS * DAY_MS)}
          />
        )}
      />
      <Row
        id="retention-keep"
        label="Keep"
        control={(described) => (
          <Select
            {...described}
            name="keep"
            value={keep}
            choices={KEEP_OPTIONS.map((option) => [option, KEEP_LABELS[option]])}
          />
        )}
      />
      <p>
        <SubmitButton label="Preview" />
      </p>
    </form>
  );
}

function Result({ preview, day }: { readonly preview: Preview; readonly day: string }) {
  const { keep, versions, dropped, dropped_bytes, states_kept, credential_notes_dropped, segments } = preview;
  const command = `netledger prune --data DIR --before ${day}${keep === "none" ? "" : ` --keep ${keep}`}`;
  return (
    <section class="part" role="status">
      <h2>Effect</h2>
      {dropped === 0 && <p>Nothing would be dropped.</p>}
      <dl class="facts">
        <Fact name="Versions checked">{groupedDigits(versions)}</Fact>
        {dropped > 0 && (
          <>
            <Fact name="Dropped">
              {counted(dropped, "version", "versions")}, {sizeText(dropped_bytes)} of documents
            </Fact>
            <Fact name="Kept">{counted(states_kept, "state", "states")}</Fact>
          </>
        )}
        {credential_notes_dropped > 0 && (
          <Fact name="Dropped records of sent credentials">{groupedDigits(credential_notes_dropped)}</Fact>
        )}
        {dropped > 0 && segments.length > 0 && (
          <Fact name="Thinned periods">
            <ul class="settings-list">
              {segments.map(({ first, last, resolution }) => (
                <li key={first}>
                  transactions {groupedDigits(first)} to {groupedDigits(last)}: {KEEP_LABELS[resolution]}
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      {dropped > 0 && (
        <>
          <h2>Run the prune</h2>
          <p class="prose">
            Dropped data cannot be restored. Take a backup first and stop the appliance, then run this on the machine
            with the data folder DIR. <a href={hrefOf("/settings/backups")}>Backups</a>
          </p>
          <p class="command">
            <Copied hasLabel text={command} />
          </p>
          <p class="prose aside">
            --vacuum rewrites the file afterwards. Without it, dropped data can be recovered from unused pages.
          </p>
        </>
      )}
    </section>
  );
}
