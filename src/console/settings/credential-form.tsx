// Form for a new or existing credential. Input is kept as a draft, except secrets. Newly reached devices are listed
// before saving.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, read, written } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { FoundHost } from "../forms/found-host.tsx";
import { type KeptForm, keptForm } from "../forms/kept-form.ts";
import { reasonHeader } from "../forms/reason.ts";
import { savedOver } from "../forms/saved-over.ts";
import { Named } from "../names/named.tsx";
import { nameOf } from "../names/names.ts";
import { shownName } from "../names/shown-name.ts";
import { me } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { editText } from "../text/editing.ts";
import type { CredentialDone } from "./credential-outcome.tsx";
import {
  CredentialTypeFields,
  isOtherSecretKept,
  isSecretTyped,
  keptType,
  typedType,
} from "./credential-type-fields.tsx";
import { NewlyAsked } from "./newly-asked.tsx";
import { Labelled, NameField, ReasonField, textIn, useNetworks } from "./rights-fields.tsx";

export type StoredCredential = DataOf<"/api/v1/credentials">[number];

interface CredentialFormProps {
  /** Null for a new credential. */
  readonly edited: StoredCredential | null;
  onEnd(): void;
  onDone(done: CredentialDone): void;
}

export function CredentialForm({ edited, onEnd, onDone }: CredentialFormProps) {
  const who = me.value;
  const [kept] = useState(() => keptForm("credential", edited));
  const [type, setType] = useState(() => keptType(kept) ?? edited?.credential_type.type ?? "SnmpV2c");
  const [networks, setNetworks] = useState<readonly string[]>(
    () => kept.all("network") ?? edited?.assigned_network_ids ?? [],
  );
  const [hosts, setHosts] = useState(() => keptHosts(kept) ?? edited?.host_assignments ?? []);
  const [targets, setTargets] = useState(() => kept.text("target_ips") ?? edited?.target_ips?.join("\n") ?? "");
  const [isTyped, setTyped] = useState(() => isOtherSecretKept(kept));
  const [over] = useState(() => savedOver("/api/v1/credentials/{id}", edited?.id ?? null));
  if (who === null || who === undefined) return null;
  const addresses = addressesIn(targets);
  const run = async (form: FormData, requestKey: string) => {
    const body = {
      organization_id: edited?.organization_id ?? who.organization.id,
      name: textIn(form, "name"),
      credential_type: typedType(form, type, edited?.credential_type ?? null),
      assigned_network_ids: [...networks],
      host_assignments: hosts.map((each) => ({ ...each })),
      tags: form.getAll("tag").map(String),
      target_ips: addresses.length === 0 ? null : addresses,
    };
    const headers = reasonHeader(textIn(form, "reason"));
    const header = { "Idempotency-Key": requestKey };
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
      isSecret: isSecretTyped(form),
    });
  };
  return (
    <AskFirst
      title={edited === null ? credentialText.newOne : credentialText.editTitle(edited.name)}
      says={[credentialText.notShared, ...(edited === null ? [] : [credentialText.undoSays])]}
      verb={edited === null ? editText.create : credentialText.save}
      run={run}
      onEnd={onEnd}
      kept={kept}
    >
      <NameField
        label={credentialText.name}
        help={credentialText.nameHelp}
        name={kept.text("name") ?? edited?.name ?? ""}
      />
      <CredentialTypeFields
        kept={kept}
        type={type}
        stored={edited?.credential_type ?? null}
        onType={setType}
        onSecret={() => setTyped(true)}
      />
      <NetworkBoxes chosen={networks} onChoose={setNetworks} />
      <HostChoices chosen={hosts} onChoose={setHosts} />
      <Labelled label={credentialText.targets} help={credentialText.targetsHelp}>
        {(described) => (
          <textarea
            {...described}
            name="target_ips"
            rows={2}
            spellcheck={false}
            autoComplete="off"
            value={targets}
            onInput={(event) => setTargets(event.currentTarget.value)}
          />
        )}
      </Labelled>
      <TagChoices chosen={kept.all("tag") ?? edited?.tags ?? []} />
      <NewlyAsked
        before={edited}
        networks={networks}
        hosts={hosts}
        targets={addresses}
        isOtherSecret={edited !== null && isTyped}
      />
      <ReasonField typed={kept.text("reason")} />
    </AskFirst>
  );
}

type HostAssignments = StoredCredential["host_assignments"];

/** Draft of HostChoices; undefined without a draft. */
function keptHosts(kept: KeptForm): HostAssignments | undefined {
  return kept.all("host")?.map((text) => JSON.parse(text) as HostAssignments[number]);
}

function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
}

/** Dispatches an input event once a new choice is rendered, so that the form keeps its draft. Attach its ref. */
function useTyped(chosen: unknown) {
  const element = useRef<HTMLFieldSetElement>(null);
  const told = useRef(chosen);
  useEffect(() => {
    if (told.current !== chosen) element.current?.dispatchEvent(new Event("input", { bubbles: true }));
    told.current = chosen;
  }, [chosen]);
  return element;
}

interface NetworkBoxesProps {
  readonly chosen: readonly string[];
  onChoose(ids: readonly string[]): void;
}

function NetworkBoxes({ chosen, onChoose }: NetworkBoxesProps) {
  return (
    <fieldset class="settings-set" ref={useTyped(chosen)}>
      <legend>{credentialText.networks}</legend>
      {chosen.map((id) => (
        <input key={id} type="hidden" name="network" value={id} />
      ))}
      <div class="settings-choices">
        {useNetworks().map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ currentTarget: { checked } }) =>
                onChoose(checked ? [...chosen, id] : chosen.filter((each) => each !== id))
              }
            />{" "}
            <bdi>{name}</bdi>
          </label>
        ))}
      </div>
      <p class="aside">{credentialText.networksHelp}</p>
    </fieldset>
  );
}

interface HostChoicesProps {
  readonly chosen: HostAssignments;
  onChoose(hosts: HostAssignments): void;
}

/** Keeps the addresses assigned within a host, which its own page edits. */
function HostChoices({ chosen, onChoose }: HostChoicesProps) {
  const [turn, setTurn] = useState(0);
  return (
    <fieldset class="settings-set" ref={useTyped(chosen)}>
      <legend>{credentialText.hosts}</legend>
      {chosen.map((each) => (
        <input key={each.host_id} type="hidden" name="host" value={JSON.stringify(each)} />
      ))}
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
                onClick={() => onChoose(chosen.filter((each) => each.host_id !== host_id))}
              >
                {credentialText.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Labelled label={credentialText.addHost} help={credentialText.hostsHelp}>
        {(described) => (
          <FoundHost
            key={turn}
            hostId=""
            record={{}}
            described={described}
            isAdding
            onFound={(id) => {
              if (id === "" || chosen.some((each) => each.host_id === id)) return;
              onChoose([...chosen, { host_id: id }]);
              setTurn((last) => last + 1);
            }}
          />
        )}
      </Labelled>
    </fieldset>
  );
}

function TagChoices({ chosen }: { readonly chosen: readonly string[] }) {
  const { data } = useAnswer(read("/api/v1/tags", { query: { limit: 0, order_by: "name" } }));
  // Still loading; keep the current selection.
  if (data === undefined)
    return (
      <>
        {chosen.map((id) => (
          <input key={id} type="hidden" name="tag" value={id} />
        ))}
      </>
    );
  if (data.length === 0) return null;
  return (
    <fieldset class="settings-set">
      <legend>{credentialText.tags}</legend>
      <div class="settings-choices">
        {data.map(({ id, name }) => (
          <label key={id}>
            <input type="checkbox" name="tag" value={id} defaultChecked={chosen.includes(id)} /> <bdi>{name}</bdi>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
