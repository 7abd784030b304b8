// Credential page: facts, reach with reasons, a trial on one address, and history. Shows that a secret is stored, but
// never the secret.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { api, read, written } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { secretIn } from "../forms/credential-type.tsx";
import { useNetworks } from "../forms/fields.tsx";
import { Named } from "../names/named.tsx";
import { historyPage } from "../names/record-page.ts";
import { Tags } from "../names/tags.tsx";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayTry, TryCredential } from "../scanning/try-credential.tsx";
import { mayNow } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { useSubject } from "../time/subject.ts";
import { hrefOf } from "../url/location.ts";
import { AskedWith, reachOf } from "./asked-with.tsx";
import { CredentialForm, type StoredCredential } from "./credential-form.tsx";
import { CredentialHistory } from "./credential-history.tsx";
import { type CredentialDone, CredentialOutcome } from "./credential-outcome.tsx";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

const LIST = "/settings/credentials";

export function CredentialPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ id });
  const asked = oneOf(read("/api/v1/credentials", { query: { ids: [id] } }));
  const { data: credential, problem, again } = useAnswer(asked, { how: "refresh", types: ["credential"] });
  const [turn, setTurn] = useState(0);
  const [isDeleted, setDeleted] = useState(false);
  const refresh = () => {
    again();
    setTurn((last) => last + 1);
  };
  const dialog = useDialog<"edit" | "delete", CredentialDone>(refresh);
  const { asked: asking, told, ask } = dialog;
  const isGone = isDeleted || problem?.status === 404 || problem?.status === 400;
  return (
    <SettingsPage
      title={(isGone ? undefined : credential?.name) ?? credentialText.one}
      operation="listCredentials"
      reads={[asked.url, reachOf(id).url]}
      actions={
        credential !== undefined &&
        !isGone && (
          <>
            {mayNow("updateCredential") && (
              <button type="button" onClick={() => ask("edit")}>
                {credentialText.edit}
              </button>
            )}
            {mayNow("deleteCredential") && (
              <button type="button" onClick={() => ask("delete")}>
                {credentialText.delete}
              </button>
            )}
          </>
        )
      }
    >
      <p>
        <a href={hrefOf(LIST)}>{credentialText.all}</a>
      </p>
      {told !== null && (
        <CredentialOutcome
          key={told.sequence}
          done={told}
          onClose={dialog.close}
          onUndone={() => {
            setDeleted(false);
            refresh();
          }}
        />
      )}
      {isGone && (
        <p>
          {credentialText.gone} <a href={hrefOf(historyPage("credential", id) ?? LIST)}>{credentialText.goneHistory}</a>
        </p>
      )}
      {problem !== undefined && !isGone && <Problem problem={problem} again={again} />}
      {credential === undefined && problem === undefined && <Waiting />}
      {credential !== undefined && !isGone && (
        <>
          {asking === "edit" && (
            <CredentialForm key={credential.updated_at} edited={credential} onEnd={dialog.end} onDone={dialog.finish} />
          )}
          {asking === "delete" && (
            <Removal
              credential={credential}
              onEnd={dialog.end}
              onDone={(done) => {
                setDeleted(done.sequence !== null);
                dialog.finish(done);
              }}
            />
          )}
          <Facts credential={credential} />
          {/* Hidden while deleting: once deleted, a credential has no reach. */}
          {asking !== "delete" && (
            <section class="credential-part">
              <h2>{credentialText.reach}</h2>
              <AskedWith key={turn} id={id} />
            </section>
          )}
          {mayTry() && (
            <section class="credential-part">
              <h2>{credentialText.tryIt}</h2>
              <Trial credential={credential} />
            </section>
          )}
          <section class="credential-part">
            <h2>{credentialText.history}</h2>
            <CredentialHistory key={turn} id={id} />
          </section>
        </>
      )}
    </SettingsPage>
  );
}

function Facts({
  credential: { credential_type: type, tags, secrets_updated_at, created_at },
}: {
  readonly credential: StoredCredential;
}) {
  const stored = (field: keyof typeof credentialText.secrets) => {
    const secret = secretIn(type, field);
    if (secret === undefined) return null;
    return (
      <Fact key={field} name={credentialText.secrets[field]}>
        {secret.mode === "FilePath" ? credentialText.inFile(secret.path) : credentialText.stored}
      </Fact>
    );
  };
  return (
    <dl class="facts">
      <Fact name={credentialText.type}>{credentialText.types[type.type]}</Fact>
      {type.type === "SnmpV3" && (
        <>
          <Fact name={credentialText.security_name}>
            <bdi>{type.security_name}</bdi>
          </Fact>
          <Fact name={credentialText.auth_protocol}>{type.auth_protocol}</Fact>
          <Fact name={credentialText.priv_protocol}>{type.priv_protocol}</Fact>
          {type.context_name && (
            <Fact name={credentialText.context_name}>
              <bdi>{type.context_name}</bdi>
            </Fact>
          )}
        </>
      )}
      {(["community", "auth_password", "priv_password"] as const).map(stored)}
      <Fact name={credentialText.secretsChanged}>
        <When instant={secrets_updated_at} as="both" />
      </Fact>
      <Fact name="Created">
        <When instant={created_at} as="both" />
      </Fact>
      {tags.length > 0 && (
        <Fact name={credentialText.tags}>
          <Tags ids={tags} />
        </Fact>
      )}
    </dl>
  );
}

/** Assigned networks first, as the most likely ones for a trial. */
function Trial({
  credential: { id, name, assigned_network_ids, target_ips },
}: {
  readonly credential: StoredCredential;
}) {
  const networks = useNetworks();
  const own = networks.filter((each) => assigned_network_ids.includes(each.id));
  const others = networks.filter((each) => !assigned_network_ids.includes(each.id));
  const [first] = target_ips ?? [];
  return (
    <TryCredential
      credentials={[{ id, name }]}
      networks={[...own, ...others]}
      {...(first === undefined ? {} : { address: first })}
    />
  );
}

/** Longer lists are impractical to read. */
const HOSTS_NAMED_MAX = 20;

interface RemovalProps {
  readonly credential: StoredCredential;
  onEnd(): void;
  onDone(done: CredentialDone): void;
}

/** Lists the assignments deleted with the credential. */
function Removal({ credential, onEnd, onDone }: RemovalProps) {
  const { id, name, assigned_network_ids: networks, host_assignments: hosts } = credential;
  return (
    <AskFirst
      title={credentialText.deleteTitle(name)}
      says={[credentialText.deleteAsked(networks.length, hosts.length), credentialText.deleteSays]}
      verb={credentialText.deleteVerb}
      takesAway
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        const cascade = networks.length + hosts.length > 0;
        const params = { path: { id }, query: cascade ? { cascade } : {}, header };
        const { sequence } = await written(api.DELETE("/api/v1/credentials/{id}", { params, headers }));
        onDone({ sentence: credentialText.deleted(name), sequence, isSecret: true });
      }}
    >
      {networks.length + hosts.length > 0 && (
        <ul class="credential-hosts">
          {networks.map((network) => (
            <li key={network}>
              <Named kind="network" id={network} />
            </li>
          ))}
          {hosts.slice(0, HOSTS_NAMED_MAX).map(({ host_id }) => (
            <li key={host_id}>
              <Named kind="host" id={host_id} />
            </li>
          ))}
          {hosts.length > HOSTS_NAMED_MAX && <li>{credentialText.listed(hosts.length - HOSTS_NAMED_MAX)}</li>}
        </ul>
      )}
    </AskFirst>
  );
}
