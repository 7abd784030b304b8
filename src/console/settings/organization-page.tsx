// Organization page: name, mandatory change reasons, and change history.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read } from "../api/client.ts";
import { Transactions, transactionsRead } from "../changes/transactions.tsx";
import { AskFirst } from "../forms/ask-first.tsx";
import { Told } from "../forms/done-note.tsx";
import { CheckField, TextField } from "../forms/fields.tsx";
import { savedOver } from "../forms/saved-over.ts";
import { draftOf, type Headers, useForm } from "../forms/use-form.ts";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { mayNow, refreshMe } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Organization = DataOf<"/api/v1/organizations">;

export function OrganizationPage() {
  const asked = read("/api/v1/organizations");
  const { data, problem, again } = useAnswer(asked, { how: "refresh", types: ["organization"] });
  const dialog = useDialog<true>(() => {
    again();
    void refreshMe();
  });
  const history = { id: data?.id ?? "" };
  return (
    <SettingsPage
      title={settingsText.tabs.organization}
      operation="getOrganization"
      reads={[asked.url, ...(data === undefined ? [] : [transactionsRead(history).url])]}
      actions={
        mayNow("updateOrganization") &&
        data !== undefined && (
          <button type="button" onClick={() => dialog.ask(true)}>
            Edit the organization
          </button>
        )
      }
    >
      <p class="prose">All data belong to your organization and are visible to it alone.</p>
      {dialog.told !== null && <Told key={dialog.told} sentence={dialog.told} onClose={dialog.close} />}
      {dialog.asked !== null && data !== undefined && (
        <OrganizationForm edited={data} onEnd={dialog.end} onDone={dialog.finish} />
      )}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && (
        <>
          <dl class="facts">
            <Fact name="Name">
              <bdi>{data.name}</bdi>
            </Fact>
            <Fact name="Reasons">
              {data.require_change_reason
                ? "Every change needs a reason"
                : "A reason can be given with every change, and need not be."}
            </Fact>
          </dl>
          {!mayNow("updateOrganization") && <p class="aside">Owners can change this.</p>}
          <section class="part">
            <h2>History</h2>
            <Transactions key={data.updated_at} of={history} />
          </section>
        </>
      )}
    </SettingsPage>
  );
}

interface OrganizationFormProps {
  readonly edited: Organization;
  onEnd(): void;
  onDone(sentence: string): void;
}

function OrganizationForm({ edited, onEnd, onDone }: OrganizationFormProps) {
  // Keep the initial version; saving reports concurrent changes instead of overwriting them.
  const [begun] = useState(edited);
  const [over] = useState(() => savedOver("/api/v1/organizations", edited.id));
  const { name, require_change_reason } = begun;
  const form = useForm({ draft: draftOf("organization", begun), begun: { name, require_change_reason } });
  const run = async ({ header, headers }: Headers) => {
    const body = { name: form.text("name"), require_change_reason: form.typed.require_change_reason === true };
    await over.save((tag) => {
      const params = { header: { ...header, "If-Match": tag } };
      return done(api.PUT("/api/v1/organizations", { params, headers, body }));
    });
    const isSame = body.name === name && body.require_change_reason === require_change_reason;
    onDone(isSame ? "Nothing was changed." : "Saved.");
  };
  return (
    <AskFirst
      form={form}
      title="Edit the organization"
      says={[
        "A change of the organization cannot be undone by its transaction, as others can. To go back, edit it again.",
      ]}
      verb="Save"
      run={run}
      onEnd={onEnd}
    >
      <TextField form={form} label="Name" limits={LIMITS.updateOrganization.name} />
      <CheckField
        form={form}
        name="require_change_reason"
        label="Demand a reason for every change"
        help="From then on, whatever people and API keys change without X-Change-Reason is refused, and nothing is written: programs that give none stop being able to write. Scans, this machine's commands and people's own passwords, sessions and preferences need none."
      />
    </AskFirst>
  );
}
