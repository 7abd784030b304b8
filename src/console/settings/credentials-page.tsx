// Credentials used by discovery: where each is sent and when its secret changed, and creation of new ones. Must not
// show a secret.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Tags } from "../names/tags.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayNow } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { settingsText } from "../text/settings.ts";
import { CredentialForm } from "./credential-form.tsx";
import { type CredentialDone, CredentialOutcome } from "./credential-outcome.tsx";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Credential = DataOf<"/api/v1/credentials">[number];

export function CredentialsPage() {
  const asked = read("/api/v1/credentials", { query: { limit: 0, order_by: "name" } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", types: ["credential"] });
  const dialog = useDialog<never, CredentialDone>(again, mayNow("createCredential") ? "credential" : null);
  const { told } = dialog;
  return (
    <SettingsPage
      title={settingsText.tabs.credentials}
      operation="listCredentials"
      reads={[asked.url]}
      actions={
        mayNow("createCredential") && (
          <button type="button" onClick={dialog.openNew}>
            {credentialText.newOne}
          </button>
        )
      }
    >
      <p class="prose">
        {credentialText.says} <a href="/handbook/security">{credentialText.handbook}</a>
      </p>
      {told !== null && <CredentialOutcome key={told.sequence} done={told} onClose={dialog.close} onUndone={again} />}
      {dialog.isNew && <CredentialForm edited={null} onEnd={dialog.end} onDone={dialog.finish} />}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>{credentialText.none}</p>}
      {data !== undefined && data.length > 0 && <CredentialTable credentials={data} />}
    </SettingsPage>
  );
}

function CredentialTable({ credentials }: { readonly credentials: readonly Credential[] }) {
  const title = settingsText.tabs.credentials;
  return (
    <Paged rows={credentials} title={title} textOf={({ name, credential_type: { type } }) => `${name} ${type}`}>
      {(rows) => (
        <RowsTable
          title={title}
          heads={[
            credentialText.name,
            credentialText.type,
            credentialText.networks,
            credentialText.hosts,
            credentialText.targets,
            credentialText.secretsChanged,
            credentialText.tags,
          ]}
        >
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
