// Credentials assigned to a host or its network, with forms to assign, unassign and try them.

import { useState } from "preact/hooks";
import { api, type DataOf, read, unwrapWrite } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { choicesOf } from "../components/select.tsx";
import { When } from "../components/when.tsx";
import { loadEdited } from "../editing/write.ts";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { Checkboxes, RadioField, SelectField } from "../forms/fields.tsx";
import { type Headers, useForm } from "../forms/use-form.ts";
import { RecordLink } from "../names/record-link.tsx";
import { mayTry, TryCredential } from "../scanning/try-credential.tsx";
import { may } from "../session/me.ts";
import { type CredentialDone, CredentialOutcome } from "../settings/credential-outcome.tsx";
import { AddressesSent, reachOf } from "../settings/credential-reach.tsx";
import { type DialogEvents, useDialog } from "../settings/use-dialog.ts";
import { credentialText } from "../text/credentials.ts";
import { settingsText } from "../text/settings.ts";
import { atQuery, isPast, vs } from "../time/at.ts";
import type { ShownHost } from "./host-requests.ts";

type Credential = DataOf<"/api/v1/credentials">[number];
type Assignments = ShownHost["credential_assignments"];
type DialogRequest = { readonly action: "assign" } | { readonly action: "unassign"; readonly credential: Credential };

export const credentialsRead = () =>
  read("/api/v1/credentials", { query: { limit: 0, order_by: "name", ...atQuery() } });

/** Only an Admin decides where credentials are sent, so this requires the permission to change credentials. */
function mayAssign(): boolean {
  return !isPast.value && vs.value === null && may("updateCredential") && may("updateHost");
}

export function HostCredentials({ host, onChanged }: { readonly host: ShownHost; onChanged(): void }) {
  const { data, problem, retry } = useResponse(credentialsRead(), { how: "refresh", types: ["credential"] });
  const [revision, setRevision] = useState(0);
  const refresh = () => {
    onChanged();
    retry();
    setRevision((last) => last + 1);
  };
  const dialog = useDialog<DialogRequest, CredentialDone>(refresh);
  const { requested, outcome } = dialog;
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const assignedIds = new Set(host.credential_assignments.map(({ credential_id }) => credential_id));
  const assigned = data.filter(({ id }) => assignedIds.has(id));
  const networkWide = data.filter(({ assigned_network_ids: ids }) => ids.includes(host.network_id));
  const shown = [...new Set([...assigned, ...networkWide])];
  const unassigned = data.filter((credential) => !assigned.includes(credential));
  const [address] = host.managed.ip_addresses;
  return (
    <>
      {outcome !== null && (
        <CredentialOutcome key={outcome.sequence} done={outcome} onClose={dialog.close} onUndone={refresh} />
      )}
      {requested?.action === "assign" && (
        <AssignForm host={host} credentials={unassigned} onEnd={dialog.end} onDone={dialog.finish} />
      )}
      {requested?.action === "unassign" && (
        <UnassignForm
          key={requested.credential.id}
          host={host}
          credential={requested.credential}
          onEnd={dialog.end}
          onDone={dialog.finish}
        />
      )}
      {mayAssign() && unassigned.length > 0 && requested === null && (
        <p class="record-makes">
          <ActionButton label={credentialText.assign} onClick={() => dialog.request({ action: "assign" })} />
        </p>
      )}
      {shown.length === 0 && <p>{credentialText.hostNone}</p>}
      {shown.length > 0 && (
        <RowsTable
          title={credentialText.hostTitle}
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
              key={`${credential.id} ${revision}`}
              host={host}
              credential={credential}
              isOwn={assigned.includes(credential)}
              isNetworkWide={networkWide.includes(credential)}
              onUnassign={() => dialog.request({ action: "unassign", credential })}
            />
          ))}
        </RowsTable>
      )}
      {assigned.length > 0 && <LastAssignment key={revision} hostId={host.id} />}
      {mayTry() && shown.length > 0 && (
        <section class="credential-part">
          <h2>{credentialText.tryIt}</h2>
          <TryCredential
            credentials={shown}
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
  readonly isNetworkWide: boolean;
  onUnassign(): void;
}

function CredentialRow({ host, credential, isOwn, isNetworkWide, onUnassign }: CredentialRowProps) {
  const { id, name, credential_type } = credential;
  // The addresses that receive the credential are known only for now.
  const reach = useResponse(isOwn && !isPast.value ? reachOf(id) : null).data;
  const assigned = reach?.hosts.find(({ host_id }) => host_id === host.id);
  return (
    <tr>
      <th scope="row">
        <RecordLink type="credential" id={id} name={name} />
      </th>
      <td>{credentialText.types[credential_type.type]}</td>
      <td>
        {[isOwn && credentialText.throughHost, isNetworkWide && credentialText.throughNetwork]
          .filter(Boolean)
          .join(", ")}
      </td>
      <td>
        {assigned !== undefined && (
          <AddressesSent addresses={assigned.addresses} count={assigned.addresses_sent + assigned.addresses_waiting} />
        )}
        {isNetworkWide && <span class="aside">{credentialText.networkScope}</span>}
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

/** Read from the host's history, since assignments are part of the host. */
function LastAssignment({ hostId }: { readonly hostId: string }) {
  const { data } = useResponse(
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
async function writeAssignments(
  host: ShownHost,
  change: (assignments: Assignments) => Assignments,
  { header, headers }: Headers,
): Promise<number | null> {
  const { record, tag } = await loadEdited("host", host.id);
  const current = record as unknown as Pick<ShownHost, "id" | "name" | "hidden" | "tags" | "credential_assignments">;
  const { id, name, hidden, tags } = current;
  const { sequence } = await unwrapWrite(
    api.PUT("/api/v1/hosts/{id}", {
      params: { path: { id }, header: { ...header, "If-Match": tag } },
      headers,
      body: { id, name, hidden, tags, credential_assignments: [...change(current.credential_assignments)] },
    }),
  );
  return sequence;
}

/** Longer lists are impractical. */
const ADDRESSES_MAX = 1_000;

interface FormProps extends DialogEvents<CredentialDone> {
  readonly host: ShownHost;
}

function AssignForm({ host, credentials, onEnd, onDone }: FormProps & { readonly credentials: readonly Credential[] }) {
  const form = useForm({ initial: { credential: credentials[0]?.id ?? "", where: "every", addresses: [] } });
  const isAllAddresses = form.text("where") === "every";
  const query = { host_id: host.id, order_by: "ip_address" as const, limit: ADDRESSES_MAX };
  const addresses = useResponse(read("/api/v1/ip-addresses", { query })).data ?? [];
  return (
    <ConfirmForm
      form={form}
      title={credentialText.assignTitle(host.name)}
      consequences={[credentialText.assignDescription]}
      submitLabel={credentialText.assignVerb}
      onEnd={onEnd}
      run={async (options) => {
        const credential_id = form.text("credential");
        const item = { credential_id, ...(isAllAddresses ? {} : { ip_address_ids: [...form.list("addresses")] }) };
        const sequence = await writeAssignments(host, (before) => [...before, item], options);
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
        error={isAllAddresses || form.list("addresses").length > 0 ? null : credentialText.noneChosen}
      >
        {!isAllAddresses && (
          <Checkboxes form={form} name="addresses" options={addresses.map(({ id, ip_address }) => [id, ip_address])} />
        )}
      </RadioField>
    </ConfirmForm>
  );
}

function UnassignForm({ host, credential, onEnd, onDone }: FormProps & { readonly credential: Credential }) {
  const { id, name } = credential;
  return (
    <ConfirmForm
      title={credentialText.unassignTitle(name, host.name)}
      consequences={[credentialText.unassignDescription]}
      submitLabel={credentialText.unassign}
      isDestructive
      onEnd={onEnd}
      run={async (options) => {
        const withoutCredential = (before: Assignments) => before.filter(({ credential_id }) => credential_id !== id);
        const sequence = await writeAssignments(host, withoutCredential, options);
        onDone({ sentence: credentialText.unassigned(name), sequence, isSecret: false });
      }}
    />
  );
}
