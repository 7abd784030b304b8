// Organization page: name, mandatory change reasons, and change history.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { TextFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { conditionalSave } from "../forms/conditional-save.ts";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { DoneNote } from "../forms/done-note.tsx";
import { CheckField, TextField } from "../forms/fields.tsx";
import { draftOf, type Headers, useForm } from "../forms/use-form.ts";
import { Transactions, transactionsRead } from "../history/transactions.tsx";
import { mayNow, refreshMe } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import { SettingsPage } from "./settings-page.tsx";
import { type DialogEvents, useDialog } from "./use-dialog.ts";

type Organization = DataOf<"/api/v1/organizations">;

export function OrganizationPage() {
  const request = read("/api/v1/organizations");
  const { data, problem, retry } = useResponse(request, { how: "refresh", types: ["organization"] });
  const dialog = useDialog<true>(() => {
    retry();
    void refreshMe();
  });
  const history = { id: data?.id ?? "" };
  return (
    <SettingsPage
      title={settingsText.tabs.organization}
      operation="getOrganization"
      reads={[request.url, ...(data === undefined ? [] : [transactionsRead(history).url])]}
      actions={
        mayNow("updateOrganization") &&
        data !== undefined && <ActionButton label="Edit the organization" onClick={() => dialog.request(true)} />
      }
    >
      <p class="prose">All data belongs to your organization and is visible only to it.</p>
      {dialog.outcome !== null && <DoneNote key={dialog.outcome} sentence={dialog.outcome} onClose={dialog.close} />}
      {dialog.requested !== null && data !== undefined && (
        <OrganizationForm edited={data} onEnd={dialog.end} onDone={dialog.finish} />
      )}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && (
        <>
          <dl class="facts">
            <TextFact name="Name" text={data.name} />
            <Fact name="Reasons">{data.require_change_reason ? "Required for every change" : "Optional"}</Fact>
          </dl>
          {!mayNow("updateOrganization") && <p class="aside">Owners can change this.</p>}
          <section class="part">
            <h2>History</h2>
            <Transactions key={data.updated_at} filter={history} />
          </section>
        </>
      )}
    </SettingsPage>
  );
}

function OrganizationForm({ edited, onEnd, onDone }: DialogEvents & { readonly edited: Organization }) {
  // Keep the initial version; saving reports concurrent changes instead of overwriting them.
  const [initial] = useState(edited);
  const [conditional] = useState(() => conditionalSave("/api/v1/organizations", edited.id));
  const { name, require_change_reason } = initial;
  const form = useForm({ draft: draftOf("organization", initial), initial: { name, require_change_reason } });
  const run = async ({ header, headers }: Headers) => {
    const body = { name: form.text("name"), require_change_reason: form.typed.require_change_reason === true };
    await conditional.save((tag) => {
      const params = { header: { ...header, "If-Match": tag } };
      return unwrap(api.PUT("/api/v1/organizations", { params, headers, body }));
    });
    const isSame = body.name === name && body.require_change_reason === require_change_reason;
    onDone(isSame ? "Nothing was changed." : "Saved.");
  };
  return (
    <ConfirmForm
      form={form}
      title="Edit the organization"
      consequences={[
        "Unlike other changes, a change to the organization cannot be undone by its transaction. Edit it again instead.",
      ]}
      submitLabel="Save"
      run={run}
      onEnd={onEnd}
    >
      <TextField form={form} label="Name" limits={LIMITS.updateOrganization.name} />
      <CheckField
        form={form}
        name="require_change_reason"
        label="Require a reason for every change"
        help="From then on, changes by users and API keys without X-Change-Reason are rejected: programs that send none can no longer write. Scans, commands on this machine, and users' own passwords, sessions and preferences need none."
      />
    </ConfirmForm>
  );
}
