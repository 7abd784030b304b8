// Credential page: facts, recipients with reasons, a trial on one address, and history. Never shows a secret.

import { useState } from "preact/hooks";
import { api, read, unwrapWrite } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { TextFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Section } from "../components/section.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { secretIn } from "../forms/credential-type.tsx";
import { useNetworks } from "../forms/fields.tsx";
import { Named } from "../names/named.tsx";
import { historyPage } from "../names/record-page.ts";
import { Tags } from "../names/tags.tsx";
import { mayTry, TryCredential } from "../scanning/try-credential.tsx";
import { mayNow } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { useSubject } from "../time/subject.ts";
import { hrefOf } from "../url/location.ts";
import { CredentialForm, type StoredCredential } from "./credential-form.tsx";
import { CredentialHistory } from "./credential-history.tsx";
import { type CredentialDone, CredentialOutcome } from "./credential-outcome.tsx";
import { CredentialReach, reachOf } from "./credential-reach.tsx";
import { SettingsPage } from "./settings-page.tsx";
import { type DialogEvents, useDialog } from "./use-dialog.ts";

const LIST = "/settings/credentials";

export function CredentialPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ id });
  const credentialRequest = oneOf(read("/api/v1/credentials", { query: { ids: [id] } }));
  const response = useResponse(credentialRequest, { how: "refresh", types: ["credential"] });
  const { data: credential, problem, retry } = response;
  const [revision, setRevision] = useState(0);
  const [isDeleted, setDeleted] = useState(false);
  const refresh = () => {
    retry();
    setRevision((last) => last + 1);
  };
  const dialog = useDialog<"edit" | "delete", CredentialDone>(refresh);
  const { requested, outcome, request } = dialog;
  const isGone = isDeleted || problem?.status === 404 || problem?.status === 400;
  return (
    <SettingsPage
      title={(isGone ? undefined : credential?.name) ?? credentialText.one}
      operation="listCredentials"
      reads={[credentialRequest.url, reachOf(id).url]}
      actions={
        credential !== undefined &&
        !isGone && (
          <>
            {mayNow("updateCredential") && <ActionButton label={credentialText.edit} onClick={() => request("edit")} />}
            {mayNow("deleteCredential") && (
              <ActionButton label={credentialText.delete} onClick={() => request("delete")} />
            )}
          </>
        )
      }
    >
      <p>
        <a href={hrefOf(LIST)}>{credentialText.all}</a>
      </p>
      {outcome !== null && (
        <CredentialOutcome
          key={outcome.sequence}
          done={outcome}
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
      {!isGone && <ResponseState data={credential} problem={problem} retry={retry} />}
      {credential !== undefined && !isGone && (
        <>
          {requested === "edit" && (
            <CredentialForm key={credential.updated_at} edited={credential} onEnd={dialog.end} onDone={dialog.finish} />
          )}
          {requested === "delete" && (
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
          {requested !== "delete" && (
            <Section title={credentialText.reach} className="credential-part">
              <CredentialReach key={revision} id={id} />
            </Section>
          )}
          {mayTry() && (
            <Section title={credentialText.tryIt} className="credential-part">
              <Trial credential={credential} />
            </Section>
          )}
          <Section title={credentialText.history} className="credential-part">
            <CredentialHistory key={revision} id={id} />
          </Section>
        </>
      )}
    </SettingsPage>
  );
}

function Facts({ credential }: { readonly credential: StoredCredential }) {
  const { credential_type: type, tags, secrets_updated_at, created_at } = credential;
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
          <TextFact name={credentialText.security_name} text={type.security_name} />
          <Fact name={credentialText.auth_protocol}>{type.auth_protocol}</Fact>
          <Fact name={credentialText.priv_protocol}>{type.priv_protocol}</Fact>
          {type.context_name && <TextFact name={credentialText.context_name} text={type.context_name} />}
        </>
      )}
      {(["community", "auth_password", "priv_password"] as const).map(stored)}
      <TimeFact name={credentialText.secretsChanged} instant={secrets_updated_at} />
      <TimeFact name="Created" instant={created_at} />
      {tags.length > 0 && (
        <Fact name={credentialText.tags}>
          <Tags ids={tags} />
        </Fact>
      )}
    </dl>
  );
}

/** Offers the assigned networks first, as the most likely ones for a trial. */
function Trial({ credential }: { readonly credential: StoredCredential }) {
  const isAssigned = ({ id }: { readonly id: string }) => credential.assigned_network_ids.includes(id);
  const networks = useNetworks().toSorted((a, b) => Number(isAssigned(b)) - Number(isAssigned(a)));
  const [address] = credential.target_ips ?? [];
  const initial = address === undefined ? {} : { address };
  return <TryCredential credentials={[credential]} networks={networks} {...initial} />;
}

/** Longer lists are impractical to read. */
const HOSTS_SHOWN_MAX = 20;

type RemovalProps = DialogEvents<CredentialDone> & { readonly credential: StoredCredential };

/** Lists the assignments deleted with the credential. */
function Removal({ credential, onEnd, onDone }: RemovalProps) {
  const { id, name, assigned_network_ids: networks, host_assignments: hosts } = credential;
  return (
    <ConfirmForm
      title={credentialText.deleteTitle(name)}
      consequences={[credentialText.deleteConsequence(networks.length, hosts.length), credentialText.deleteWarning]}
      submitLabel={credentialText.deleteVerb}
      isDestructive
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        const cascade = networks.length + hosts.length > 0;
        const params = { path: { id }, query: cascade ? { cascade } : {}, header };
        const { sequence } = await unwrapWrite(api.DELETE("/api/v1/credentials/{id}", { params, headers }));
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
          {hosts.slice(0, HOSTS_SHOWN_MAX).map(({ host_id }) => (
            <li key={host_id}>
              <Named kind="host" id={host_id} />
            </li>
          ))}
          {hosts.length > HOSTS_SHOWN_MAX && <li>{credentialText.listed(hosts.length - HOSTS_SHOWN_MAX)}</li>}
        </ul>
      )}
    </ConfirmForm>
  );
}
