// Form for a new or existing credential. Newly reached devices are listed before saving.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, read, written } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import {
  begunType,
  CredentialTypeFields,
  isSecretReplaced,
  TypeField,
  type TypeName,
  typeIn,
} from "../forms/credential-type.tsx";
import { FieldSet, TextField, TicksField, useNetworks } from "../forms/fields.tsx";
import { FoundHost } from "../forms/found-host.tsx";
import { Row } from "../forms/row.tsx";
import { savedOver } from "../forms/saved-over.ts";
import { draftOf, type FormState, type Headers, useForm } from "../forms/use-form.ts";
import { Named } from "../names/named.tsx";
import { nameOf } from "../names/names.ts";
import { shownName } from "../names/shown-name.ts";
import { choicesOf } from "../parts/select.tsx";
import { targetsIn } from "../scanning/targets.ts";
import { me } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { editText } from "../text/editing.ts";
import type { CredentialDone } from "./credential-outcome.tsx";
import { NewlyAsked } from "./newly-asked.tsx";

export type StoredCredential = DataOf<"/api/v1/credentials">[number];

interface CredentialFormProps {
  /** Null for a new credential. */
  readonly edited: StoredCredential | null;
  onEnd(): void;
  onDone(done: CredentialDone): void;
}

export function CredentialForm({ edited, onEnd, onDone }: CredentialFormProps) {
  const stored = edited?.credential_type ?? null;
  const form = useForm({
    draft: draftOf("credential", edited),
    begun: {
      ...begunType(stored),
      name: edited?.name ?? "",
      networks: edited?.assigned_network_ids ?? [],
      hosts: (edited?.host_assignments ?? []).map((each) => JSON.stringify(each)),
      tags: edited?.tags ?? [],
      target_ips: edited?.target_ips?.join("\n") ?? "",
    },
  });
  const [over] = useState(() => savedOver("/api/v1/credentials/{id}", edited?.id ?? null));
  const networks = useNetworks();
  const tags = useAnswer(read("/api/v1/tags", { query: { limit: 0, order_by: "name" } })).data ?? [];
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
        ? await written(api.POST("/api/v1/credentials", { params: { header }, headers, body }))
        : await over.save((tag) => {
            const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
            return written(api.PUT("/api/v1/credentials/{id}", { params, headers, body }));
          });
    onDone({
      sentence: edited === null ? credentialText.added(body.name) : credentialText.saved(body.name),
      sequence,
      isSecret: isSecretReplaced(form, type),
    });
  };
  return (
    <AskFirst
      form={form}
      title={edited === null ? credentialText.newOne : credentialText.editTitle(edited.name)}
      says={[credentialText.notShared, ...(edited === null ? [] : [credentialText.undoSays])]}
      verb={edited === null ? editText.create : credentialText.save}
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
      <TicksField
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
      {tags.length > 0 && <TicksField form={form} name="tags" label={credentialText.tags} options={choicesOf(tags)} />}
      <NewlyAsked
        before={edited}
        networks={form.list("networks")}
        hosts={hostsIn(form)}
        targets={targets}
        isOtherSecret={edited !== null && isSecretReplaced(form, type)}
      />
    </AskFirst>
  );
}

type HostAssignment = StoredCredential["host_assignments"][number];

function hostsIn(form: FormState): HostAssignment[] {
  return form.list("hosts").map((text) => JSON.parse(text) as HostAssignment);
}

/** Keeps the addresses assigned within a host, which its own page edits. */
function HostChoices({ form }: { readonly form: FormState }) {
  const [turn, setTurn] = useState(0);
  const chosen = hostsIn(form);
  const choose = (hosts: readonly HostAssignment[]) => form.type({ hosts: hosts.map((each) => JSON.stringify(each)) });
  return (
    <FieldSet id={`${form.id}-hosts`} label={credentialText.hosts}>
      {chosen.length > 0 && (
        <ul class="credential-hosts">
          {chosen.map(({ host_id, ip_address_ids }) => (
            <li key={host_id}>
              <Named kind="host" id={host_id} />{" "}
              <span class="aside">
                {ip_address_ids == null
                  ? credentialText.everyAddress
                  : credentialText.someAddresses(ip_address_ids.length)}
              </span>{" "}
              <button
                type="button"
                aria-label={credentialText.removeHost(shownName(host_id, nameOf("host", host_id, null)))}
                onClick={() => choose(chosen.filter((each) => each.host_id !== host_id))}
              >
                {credentialText.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Row
        id={`${form.id}-host`}
        label={credentialText.addHost}
        help={credentialText.hostsHelp}
        control={(described) => (
          <FoundHost
            key={turn}
            hostId=""
            record={{}}
            described={described}
            isAdding
            onFound={(id) => {
              if (id === "" || chosen.some((each) => each.host_id === id)) return;
              choose([...chosen, { host_id: id }]);
              setTurn((last) => last + 1);
            }}
          />
        )}
      />
    </FieldSet>
  );
}
