// Change history of a credential. Secret changes are listed, but former secrets are not stored.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { credentialText } from "../text/credentials.ts";
import { ownValue } from "../text/own-value.ts";
import { hrefOf } from "../url/location.ts";

type Version = DataOf<"/api/v1/credentials/{id}/history">[number];

const VERSIONS_MAX = 50;

export function CredentialHistory({ id }: { readonly id: string }) {
  const request = read("/api/v1/credentials/{id}/history", { path: { id }, query: { limit: VERSIONS_MAX } });
  const { data, meta, problem, retry } = useResponse(request);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const remaining = (meta?.pagination.total_count ?? data.length) - data.length;
  return (
    <>
      <RowsTable
        title={credentialText.history}
        heads={[credentialText.when, credentialText.who, credentialText.what, credentialText.why]}
      >
        {data.map((version) => (
          <tr key={version.transaction.sequence}>
            <td>
              <a href={hrefOf(`/changes/${version.transaction.sequence}`)}>
                <When instant={version.transaction.at} />
              </a>
            </td>
            <td>
              <bdi>{version.transaction.actor.name}</bdi>
            </td>
            <td>{changeText(version)}</td>
            <td>
              <bdi>{version.transaction.reason ?? ""}</bdi>
            </td>
          </tr>
        ))}
      </RowsTable>
      {remaining > 0 && <p class="aside">{credentialText.listed(remaining)}</p>}
    </>
  );
}

/** `changed: secret, networks`. The type contains the masked secret, so it counts as changed with every secret. */
function changeText({ operation, changed_fields: changed }: Version): string {
  const operationText = credentialText.operations[operation] ?? operation;
  if (operation !== "Updated") return operationText;
  const isSecretChanged = changed.includes("secrets_updated_at");
  const fields = changed
    .filter((field) => !(field === "credential_type" && isSecretChanged))
    .map((field) => ownValue(credentialText.fields, field) ?? field);
  return fields.length === 0 ? operationText : `${operationText}: ${fields.join(", ")}`;
}
