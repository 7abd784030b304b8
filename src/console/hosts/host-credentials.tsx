// Credentials of a host: those assigned to it or its network, the addresses they are sent to, and the last assigner.
// With assignment, removal and a trial, subject to permissions.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, read, written } from "../api/client.ts";
import { loadEdited } from "../editing/write.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { RadioField, SelectField, Ticks } from "../forms/fields.tsx";
import { type Headers, useForm } from "../forms/use-form.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { choicesOf } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayTry, TryCredential } from "../scanning/try-credential.tsx";
import { may } from "../session/me.ts";
import { AddressesSent, reachOf } from "../settings/asked-with.tsx";
import { type CredentialDone, CredentialOutcome } from "../settings/credential-outcome.tsx";
import { useDialog } from "../settings/use-dialog.ts";
import { credentialText } from "../text/credentials.ts";
import { settingsText } from "../text/settings.ts";
import { atQuery, isPast, vs } from "../time/at.ts";
import type { ShownHost } from "./host-reads.ts";

type Credential = DataOf<"/api/v1/credentials">[number];
type Assignments = ShownHost["credential_assignments"];
type Asked = { readonly what: "assign" } | { readonly what: "unassign"; readonly credential: Credential };

export const credentialsRead = () =>
  read("/api/v1/credentials", { query: { limit: 0, order_by: "name", ...atQuery() } });

/** Only an Admin decides where credentials are sent, so this requires the permission to change credentials. */
function mayAssign(): boolean {
  return !isPast.value && vs.value === null && may("updateCredential") && may("updateHost");
}

interface HostCredentialsProps {
  readonly host: ShownHost;
  /** Called after a change of assignments. */
  onChanged(): void;
}

export function HostCredentials({ host, onChanged }: HostCredentialsProps) {
  const { data, problem, again } = useAnswer(credentialsRead(), { how: "refresh", types: ["credential"] });
  const [turn, setTurn] = useState(0);
  const refresh = () => {
    onChanged();
    again();
    setTurn((last) => last + 1);
  };
  const dialog = useDialog<Asked, CredentialDone>(refresh);
  const { asked, told } = dialog;
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const own = data.filter(({ id }) => host.credential_assignments.some((each) => each.credential_id === id));
  const ofNetwork = data.filter(({ assigned_network_ids: ids }) => ids.includes(host.network_id));
  const shown = [...new Set([...own, ...ofNetwork])];
  const free = data.filter((each) => !own.includes(each));
  const [address] = host.managed.ip_addresses;
  return (
    <>
      {told !== null && <CredentialOutcome key={told.sequence} done={told} onClose={dialog.close} onUndone={refresh} />}
      {asked?.what === "assign" && (
        <Assigning host={host} credentials={free} onEnd={dialog.end} onDone={dialog.finish} />
      )}
      {asked?.what === "unassign" && (
        <Unassigning
          key={asked.credential.id}
          host={host}
          credential={asked.credential}
          onEnd={dialog.end}
          onDone={dialog.finish}
        />
      )}
      {mayAssign() && free.length > 0 && asked === null && (
        <p class="record-makes">
          <button type="button" onClick={() => dialog.ask({ what: "assign" })}>
            {credentialText.assign}
          </button>
        </p>
      )}
      {shown.length === 0 && <p>{credentialText.ofHostNone}</p>}
      {shown.length > 0 && (
        <RowsTable
          title={credentialText.ofHost}
          heads={[
            credentialText.name,
            credentialText.type,
            credentialText.through,
            credentialText.addresses,
            mayAssign() && settingsText.actions,
          ]}
        >
          {shown.map((credential) => (
            <CredentialRow
              key={`${credential.id} ${turn}`}
              host={host}
              credential={credential}
              isOwn={own.includes(credential)}
              isOfNetwork={ofNetwork.includes(credential)}
              onUnassign={() => dialog.ask({ what: "unassign", credential })}
            />
          ))}
        </RowsTable>
      )}
      {own.length > 0 && <LastAssigned key={turn} hostId={host.id} />}
      {mayTry() && shown.length > 0 && (
        <section class="credential-part">
          <h2>{credentialText.tryIt}</h2>
          <TryCredential
            credentials={shown.map(({ id, name }) => ({ id, name }))}
            networks={[{ id: host.network_id, name: "" }]}
            {...(address === undefined ? {} : { address: address.ip_address })}
          />
        </section>
      )}
    </>
  );
}

interface CredentialRowProps {
  readonly host: ShownHost;
  readonly credential: Credential;
  readonly isOwn: boolean;
  readonly isOfNetwork: boolean;
  onUnassign(): void;
}

function CredentialRow({ host, credential, isOwn, isOfNetwork, onUnassign }: CredentialRowProps) {
  const { id, name, credential_type } = credential;
  // The addresses that receive the credential are known only for the present.
  const reach = useAnswer(isOwn && !isPast.value ? reachOf(id) : null).data;
  const own = reach?.hosts.find(({ host_id }) => host_id === host.id);
  return (
    <tr>
      <th scope="row">
        <RecordLink type="credential" id={id} name={name} />
      </th>
      <td>{credentialText.types[credential_type.type]}</td>
      <td>
        {[isOwn && credentialText.throughHost, isOfNetwork && credentialText.throughNetwork].filter(Boolean).join(", ")}
      </td>
      <td>
        {own !== undefined && (
          <AddressesSent addresses={own.addresses} count={own.addresses_sent + own.addresses_waiting} />
        )}
        {isOfNetwork && <span class="aside">{credentialText.networkSays}</span>}
      </td>
      {mayAssign() && (
        <td>
          {isOwn && (
            <button type="button" aria-label={credentialText.unassignOf(name)} onClick={onUnassign}>
              {credentialText.unassign}
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

/** From the host's history, since assignments are part of the host. */
function LastAssigned({ hostId }: { readonly hostId: string }) {
  const { data } = useAnswer(
    read("/api/v1/hosts/{id}/history", {
      path: { id: hostId },
      query: { include_children: false, filter: 'changed_fields = "credential_assignments"', limit: 1, ...atQuery() },
    }),
  );
  const last = data?.[0]?.transaction;
  if (last === undefined) return null;
  return (
    <p class="aside">
      {credentialText.lastChanged} <bdi>{last.actor.name}</bdi>, <When instant={last.at} as="both" />
    </p>
  );
}

/** Changes only the assignments, and reports concurrent changes to the host. */
async function write(
  host: ShownHost,
  changed: (assignments: Assignments) => Assignments,
  { header, headers }: Headers,
): Promise<number | null> {
  const { record, tag } = await loadEdited("host", host.id);
  const now = record as unknown as Pick<ShownHost, "id" | "name" | "hidden" | "tags" | "credential_assignments">;
  const { id, name, hidden, tags } = now;
  const { sequence } = await written(
    api.PUT("/api/v1/hosts/{id}", {
      params: { path: { id }, header: { ...header, "If-Match": tag } },
      headers,
      body: { id, name, hidden, tags, credential_assignments: [...changed(now.credential_assignments)] },
    }),
  );
  return sequence;
}

/** Longer lists are impractical. */
const ADDRESSES_MAX = 1_000;

interface AssigningProps {
  readonly host: ShownHost;
  readonly credentials: readonly Credential[];
  onEnd(): void;
  onDone(done: CredentialDone): void;
}

function Assigning({ host, credentials, onEnd, onDone }: AssigningProps) {
  const form = useForm({ begun: { credential: credentials[0]?.id ?? "", where: "every", addresses: [] } });
  const isEvery = form.text("where") === "every";
  const query = { host_id: host.id, order_by: "ip_address" as const, limit: ADDRESSES_MAX };
  const addresses = useAnswer(read("/api/v1/ip-addresses", { query })).data ?? [];
  return (
    <AskFirst
      form={form}
      title={credentialText.assignTitle(host.name)}
      says={[credentialText.assignSays]}
      verb={credentialText.assignVerb}
      onEnd={onEnd}
      run={async (sending) => {
        const credential_id = form.text("credential");
        const item = { credential_id, ...(isEvery ? {} : { ip_address_ids: [...form.list("addresses")] }) };
        const sequence = await write(host, (before) => [...before, item], sending);
        const name = credentials.find(({ id }) => id === credential_id)?.name ?? "";
        onDone({ sentence: credentialText.assigned(name), sequence, isSecret: false });
      }}
    >
      <SelectField form={form} name="credential" label={credentialText.assignWhich} options={choicesOf(credentials)} />
      <RadioField
        form={form}
        name="where"
        label={credentialText.assignWhere}
        options={[
          ["every", credentialText.assignEvery],
          ["some", credentialText.assignSome],
        ]}
        wrong={isEvery || form.list("addresses").length > 0 ? null : credentialText.noneChosen}
      >
        {!isEvery && (
          <Ticks form={form} name="addresses" options={addresses.map(({ id, ip_address }) => [id, ip_address])} />
        )}
      </RadioField>
    </AskFirst>
  );
}

interface UnassigningProps {
  readonly host: ShownHost;
  readonly credential: Credential;
  onEnd(): void;
  onDone(done: CredentialDone): void;
}

function Unassigning({ host, credential: { id, name }, onEnd, onDone }: UnassigningProps) {
  return (
    <AskFirst
      title={credentialText.unassignTitle(name, host.name)}
      says={[credentialText.unassignSays]}
      verb={credentialText.unassign}
      takesAway
      onEnd={onEnd}
      run={async (sending) => {
        const without = (before: Assignments) => before.filter(({ credential_id }) => credential_id !== id);
        const sequence = await write(host, without, sending);
        onDone({ sentence: credentialText.unassigned(name), sequence, isSecret: false });
      }}
    />
  );
}
