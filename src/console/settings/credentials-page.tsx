// List of credentials used by discovery, with recipients and last change of the secret. Never shows a secret.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Paged } from "../components/paged.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Tags } from "../names/tags.tsx";
import { mayNow } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { settingsText } from "../text/settings.ts";
import { CredentialForm } from "./credential-form.tsx";
import { type CredentialDone, CredentialOutcome } from "./credential-outcome.tsx";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Credential = DataOf<"/api/v1/credentials">[number];

export function CredentialsPage() {
  const request = read("/api/v1/credentials", { query: { limit: 0, order_by: "name" } });
  const { data, problem, retry } = useResponse(request, { how: "refresh", types: ["credential"] });
  const dialog = useDialog<never, CredentialDone>(retry, mayNow("createCredential") ? "credential" : null);
  const { outcome } = dialog;
  return (
    <SettingsPage
      title={settingsText.tabs.credentials}
      operation="listCredentials"
      reads={[request.url]}
      actions={mayNow("createCredential") && <ActionButton label={credentialText.newOne} onClick={dialog.openNew} />}
    >
      <p class="prose">
        {credentialText.intro} <a href="/handbook/security">{credentialText.handbook}</a>
      </p>
      {outcome !== null && (
        <CredentialOutcome key={outcome.sequence} done={outcome} onClose={dialog.close} onUndone={retry} />
      )}
      {dialog.isNew && <CredentialForm edited={null} onEnd={dialog.end} onDone={dialog.finish} />}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data?.length === 0 && <p>{credentialText.none}</p>}
      {data !== undefined && data.length > 0 && <CredentialTable credentials={data} />}
    </SettingsPage>
  );
}

const HEADS = ["name", "type", "networks", "hosts", "targets", "secretsChanged", "tags"] as const;

function CredentialTable({ credentials }: { readonly credentials: readonly Credential[] }) {
  const title = settingsText.tabs.credentials;
  return (
    <Paged rows={credentials} title={title} textOf={({ name, credential_type: { type } }) => `${name} ${type}`}>
      {(rows) => (
        <RowsTable title={title} heads={HEADS.map((key) => credentialText[key])}>
          {rows.map(({ id, name, credential_type, assigned_network_ids, host_assignments, ...rest }) => (
            <tr key={id}>
              <th scope="row">
                <RecordLink type="credential" id={id} name={name} />
              </th>
              <td>{credentialText.types[credential_type.type]}</td>
              <td>{assigned_network_ids.length}</td>
              <td>{host_assignments.length}</td>
              <td>{rest.target_ips?.length ?? 0}</td>
              <td>
                <When instant={rest.secrets_updated_at} as="age" />
              </td>
              <td>
                <Tags ids={rest.tags} />
              </td>
            </tr>
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}
