// Change history of a credential. A change of secret is listed; former secrets are not stored.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { credentialText } from "../text/credentials.ts";
import { ownValue } from "../text/own-value.ts";
import { hrefOf } from "../url/location.ts";

type Version = DataOf<"/api/v1/credentials/{id}/history">[number];

const SHOWN = 50;

export function CredentialHistory({ id }: { readonly id: string }) {
  const asked = read("/api/v1/credentials/{id}/history", { path: { id }, query: { limit: SHOWN } });
  const { data, meta, problem, again } = useAnswer(asked);
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const more = (meta?.pagination.total_count ?? data.length) - data.length;
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
            <td>{whatOf(version)}</td>
            <td>
              <bdi>{version.transaction.reason ?? ""}</bdi>
            </td>
          </tr>
        ))}
      </RowsTable>
      {more > 0 && <p class="aside">{credentialText.listed(more)}</p>}
    </>
  );
}

/** `changed: secret, networks`. A secret is masked in its type, which need not otherwise have changed. */
function whatOf({ operation, changed_fields: changed }: Version): string {
  const said = credentialText.operations[operation] ?? operation;
  if (operation !== "Updated") return said;
  const isSecretAlone = changed.includes("secrets_updated_at");
  const fields = changed
    .filter((field) => !(field === "credential_type" && isSecretAlone))
    .map((field) => ownValue(credentialText.fields, field) ?? field);
  return fields.length === 0 ? said : `${said}: ${fields.join(", ")}`;
}
