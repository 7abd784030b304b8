// Third step of the wizard: credentials for devices, or none. Secrets exist only in the page's memory.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ResponseState } from "../components/response-state.tsx";
import { choicesOf } from "../components/select.tsx";
import { FormProblem } from "../forms/confirm-form.tsx";
import { CredentialTypeFields, initialType, typeIn } from "../forms/credential-type.tsx";
import { loadDraft } from "../forms/drafts.ts";
import { RadioField, SelectField } from "../forms/fields.tsx";
import { type Headers, useForm } from "../forms/use-form.ts";
import { REUSED } from "../forms/use-write.ts";
import { me } from "../session/me.ts";
import { wizardText } from "../text/first-run.ts";
import { isolated } from "../text/isolated.ts";
import { go, hrefHere } from "../url/location.ts";
import {
  type Credential,
  createCredentialFor,
  credentialsOf,
  shareCredential,
  useCredentials,
  wasCreatedWith,
} from "./credentials.ts";
import type { Network } from "./scan-targets.ts";
import { StepEnd } from "./step-end.tsx";
import { CREDENTIAL_CHOICES, type CredentialChoice, hrefOfStep, selectedCredentials, WIZARD } from "./wizard-url.ts";

export function CredentialsStep({ network }: { readonly network: Network }) {
  const { data, problem, retry } = useCredentials();
  // Number of requests that turned out to have been saved; each resets the form.
  const [saved, setSaved] = useState(0);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const showSaved = () => {
    setSaved(saved + 1);
    retry();
    go(hrefHere({ [WIZARD.credentials]: "own", [WIZARD.scan]: null }), "replace");
  };
  return <CredentialForm key={saved} network={network} all={data} isSaved={saved > 0} onSaved={showSaved} />;
}

interface CredentialFormProps {
  readonly network: Network;
  readonly all: readonly Credential[];
  /** Whether an earlier request was saved, although its response was lost. */
  readonly isSaved: boolean;
  onSaved(): void;
}

const CREDENTIALS = {
  intro:
    "Over SNMP, switches and routers report their model, their ports and the neighbor on each link. netledger only reads them.",
  choices: {
    own: (names: string) => `Credentials of this network: ${names}`,
    other: "A credential of another network",
    v2c: "An SNMP v2c community",
    v3: "An SNMP v3 user",
    none: "None: sweep only",
  },
  choose: "Choose one.",
  noneExplanation:
    "A sweep finds responding addresses and open ports. It sends no credentials. Without SNMP there are no switch interfaces, VLANs, links or switch ports of MAC addresses: the map shows devices without links. You can add credentials at any time.",
  storage: (name: string) =>
    `It is stored encrypted as “${isolated(name)}” for this network and never shown again. If you reload this page before continuing, enter it again.`,
  unknownOutcome:
    "It is unknown whether the credential was saved. Enter it again and continue to check: it is saved only once.",
  wasSaved: "The credential you sent before was saved. To enter another one, select its type.",
  nameOf: { v2c: (network: string) => `SNMP v2c, ${network}`, v3: (network: string) => `SNMP v3, ${network}` },
  other: "Credential",
  security_name: "User",
  auth_protocol: "Authentication",
  priv_protocol: "Encryption",
  secrets: { community: "Community", auth_password: "Authentication password", priv_password: "Encryption password" },
  context_name: "Context",
  contextHelp: "Most devices need none.",
  /** Spellings that differ from the API names. */
  protocols: {
    Sha512: "SHA-512",
    Sha384: "SHA-384",
    Sha256: "SHA-256",
    Sha1: "SHA-1",
    Md5: "MD5",
    Aes256: "AES-256",
    Aes128: "AES-128",
    Des: "DES",
    None: "none",
  } as Readonly<Record<string, string>>,
  save: "Save and continue",
};

function CredentialForm({ network, all, isSaved, onSaved }: CredentialFormProps) {
  const own = credentialsOf(all, network.id);
  const others = all.filter((credential) => !own.includes(credential));
  const offered = CREDENTIAL_CHOICES.filter(
    (candidate) => (candidate !== "own" || own.length > 0) && (candidate !== "other" || others.length > 0),
  );
  const requested = selectedCredentials() ?? (own.length > 0 ? "own" : null);
  const choice = offered.find((candidate) => candidate === requested) ?? null;
  const draft = { userId: me.peek()?.id ?? "", kind: "first credential", id: network.id };
  const form = useForm({ id: "first-run", draft, initial: { ...initialType(null), other: others[0]?.id ?? "" } });
  /** Checks whether the request with the key was saved; if so, resets the form. */
  const checkSaved = async (key: string) => {
    if (!(await wasCreatedWith(key))) return false;
    form.forget();
    onSaved();
    return true;
  };
  // Checks after a reload. On failure, the next request repeats the check.
  useEffect(() => {
    const { sentAs } = loadDraft(draft) ?? {};
    if (sentAs !== undefined) checkSaved(sentAs).catch(() => false);
  }, []);
  const isNew = choice === "v2c" || choice === "v3";
  const type = choice === "v3" ? "SnmpV3" : "SnmpV2c";
  const run = async ({ header }: Headers) => {
    if (choice === "other") await shareCredential(network, form.text("other"));
    if (isNew) {
      const key = header["Idempotency-Key"];
      const name = CREDENTIALS.nameOf[choice](network.name);
      try {
        await createCredentialFor(network, name, typeIn(form, type), key);
      } catch (cause) {
        if (asRefusal(cause).code === REUSED && (await checkSaved(key))) return;
        throw cause;
      }
    }
    form.forget();
    go(hrefOfStep("scan", { [WIZARD.credentials]: choice === "none" ? "none" : "own" }));
  };
  const labels: Readonly<Record<CredentialChoice, string>> = {
    ...CREDENTIALS.choices,
    own: CREDENTIALS.choices.own(own.map(({ name }) => name).join(", ")),
  };
  return (
    <form class="steps" noValidate method="post" autoComplete="off" onSubmit={(event) => form.submit(event, run)}>
      <p class="prose">{CREDENTIALS.intro}</p>
      <FormProblem form={form} />
      {form.isLost && isNew && (
        <p class="note" role="status">
          {CREDENTIALS.unknownOutcome}
        </p>
      )}
      {isSaved && choice === "own" && (
        <p class="note" role="status">
          {CREDENTIALS.wasSaved}
        </p>
      )}
      <RadioField
        form={form}
        name="credentials"
        label={wizardText.question.credentials}
        isVisuallyHidden
        options={offered.map((value) => [value, labels[value]])}
        chosen={choice}
        error={choice === null ? CREDENTIALS.choose : null}
        onChoose={(next) => {
          form.refuse(null);
          go(hrefHere({ [WIZARD.credentials]: next, [WIZARD.scan]: null }), "replace");
        }}
      />
      {choice === "other" && (
        <SelectField form={form} name="other" label={CREDENTIALS.other} options={choicesOf(others)} />
      )}
      {isNew && <CredentialTypeFields form={form} type={type} words={CREDENTIALS} />}
      {isNew && <p class="prose aside">{CREDENTIALS.storage(CREDENTIALS.nameOf[choice](network.name))}</p>}
      {choice === "none" && <p class="prose">{CREDENTIALS.noneExplanation}</p>}
      <StepEnd step="credentials">
        <button type="submit" class="primary" disabled={form.isBusy}>
          {form.isBusy ? "One moment…" : isNew ? CREDENTIALS.save : "Continue"}
        </button>
      </StepEnd>
    </form>
  );
}
