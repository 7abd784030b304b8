// Form for a new or existing credential. Lists additional recipients before saving.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, read, unwrapWrite } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { choicesOf } from "../components/select.tsx";
import { conditionalSave } from "../forms/conditional-save.ts";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import {
  CredentialTypeFields,
  initialType,
  isSecretReplaced,
  TypeField,
  type TypeName,
  typeIn,
} from "../forms/credential-type.tsx";
import { CheckboxesField, FieldSet, TextField, useNetworks } from "../forms/fields.tsx";
import { HostSearchField } from "../forms/host-search-field.tsx";
import { Row } from "../forms/row.tsx";
import { draftOf, type FormState, type Headers, useForm } from "../forms/use-form.ts";
import { Named } from "../names/named.tsx";
import { nameOf } from "../names/names.ts";
import { shownName } from "../names/shown-name.ts";
import { targetsIn } from "../scanning/targets.ts";
import { me } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { editText } from "../text/editing.ts";
import type { CredentialDone } from "./credential-outcome.tsx";
import { NewReach } from "./new-reach.tsx";
import type { DialogEvents } from "./use-dialog.ts";

export type StoredCredential = DataOf<"/api/v1/credentials">[number];

interface CredentialFormProps extends DialogEvents<CredentialDone> {
  /** Null for a new credential. */
  readonly edited: StoredCredential | null;
}

export function CredentialForm({ edited, onEnd, onDone }: CredentialFormProps) {
  const stored = edited?.credential_type ?? null;
  const form = useForm({
    draft: draftOf("credential", edited),
    initial: {
      ...initialType(stored),
      name: edited?.name ?? "",
      networks: edited?.assigned_network_ids ?? [],
      hosts: (edited?.host_assignments ?? []).map((assignment) => JSON.stringify(assignment)),
      tags: edited?.tags ?? [],
      target_ips: edited?.target_ips?.join("\n") ?? "",
    },
  });
  const [conditional] = useState(() => conditionalSave("/api/v1/credentials/{id}", edited?.id ?? null));
  const networks = useNetworks();
  const tags = useResponse(read("/api/v1/tags", { query: { limit: 0, order_by: "name" } })).data ?? [];
  const type = form.text("type") as TypeName;
  const targets = targetsIn(form.text("target_ips"));
  const run = async ({ header, headers }: Headers) => {
    const body = {
      organization_id: edited?.organization_id ?? me.peek()?.organization.id ?? "",
      name: form.text("name"),
      credential_type: typeIn(form, type, stored),
      assigned_network_ids: [...form.list("networks")],
      host_assignments: hostsIn(form),
      tags: [...form.list("tags")],
      target_ips: targets.length === 0 ? null : targets,
    };
    const { sequence } =
      edited === null
        ? await unwrapWrite(api.POST("/api/v1/credentials", { params: { header }, headers, body }))
        : await conditional.save((tag) => {
            const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
            return unwrapWrite(api.PUT("/api/v1/credentials/{id}", { params, headers, body }));
          });
    onDone({
      sentence: edited === null ? credentialText.added(body.name) : credentialText.saved(body.name),
      sequence,
      isSecret: isSecretReplaced(form, type),
    });
  };
  return (
    <ConfirmForm
      form={form}
      title={edited === null ? credentialText.newOne : credentialText.editTitle(edited.name)}
      consequences={[credentialText.secretPrivacy, ...(edited === null ? [] : [credentialText.undoWarning])]}
      submitLabel={edited === null ? editText.create : credentialText.save}
      run={run}
      onEnd={onEnd}
    >
      <TextField
        form={form}
        label={credentialText.name}
        help={credentialText.nameHelp}
        limits={LIMITS.createCredential.name}
      />
      <TypeField form={form} />
      <CredentialTypeFields form={form} type={type} words={credentialText} stored={stored} hasFiles />
      <CheckboxesField
        form={form}
        name="networks"
        label={credentialText.networks}
        help={credentialText.networksHelp}
        options={choicesOf(networks)}
      />
      <HostChoices form={form} />
      <TextField
        form={form}
        name="target_ips"
        label={credentialText.targets}
        help={credentialText.targetsHelp}
        rows={2}
      />
      {tags.length > 0 && (
        <CheckboxesField form={form} name="tags" label={credentialText.tags} options={choicesOf(tags)} />
      )}
      <NewReach
        previous={edited}
        networks={form.list("networks")}
        hosts={hostsIn(form)}
        targets={targets}
        isSecretChanged={edited !== null && isSecretReplaced(form, type)}
      />
    </ConfirmForm>
  );
}

type HostAssignment = StoredCredential["host_assignments"][number];

function hostsIn(form: FormState): HostAssignment[] {
  return form.list("hosts").map((text) => JSON.parse(text) as HostAssignment);
}

/** Keeps the selected addresses of each host, which the host's page edits. */
function HostChoices({ form }: { readonly form: FormState }) {
  const [revision, setRevision] = useState(0);
  const selectedHosts = hostsIn(form);
  const selectHosts = (hosts: readonly HostAssignment[]) =>
    form.type({ hosts: hosts.map((host) => JSON.stringify(host)) });
  return (
    <FieldSet id={`${form.id}-hosts`} label={credentialText.hosts}>
      {selectedHosts.length > 0 && (
        <ul class="credential-hosts">
          {selectedHosts.map(({ host_id, ip_address_ids }) => (
            <li key={host_id}>
              <Named kind="host" id={host_id} />{" "}
              <span class="aside">
                {ip_address_ids == null
                  ? credentialText.everyAddress
                  : credentialText.someAddresses(ip_address_ids.length)}
              </span>{" "}
              <ActionButton
                label={credentialText.remove}
                aria-label={credentialText.removeHost(shownName(host_id, nameOf("host", host_id, null)))}
                onClick={() => selectHosts(selectedHosts.filter((host) => host.host_id !== host_id))}
              />
            </li>
          ))}
        </ul>
      )}
      <Row
        id={`${form.id}-host`}
        label={credentialText.addHost}
        help={credentialText.hostsHelp}
        control={(described) => (
          <HostSearchField
            key={revision}
            hostId=""
            record={{}}
            described={described}
            isAdding
            onFound={(id) => {
              if (id === "" || selectedHosts.some(({ host_id }) => host_id === id)) return;
              selectHosts([...selectedHosts, { host_id: id }]);
              setRevision((last) => last + 1);
            }}
          />
        )}
      />
    </FieldSet>
  );
}
