// Third step of the wizard: credentials for devices, or none. The choice is in the address; secrets exist only in the
// page.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { FormProblem } from "../forms/ask-first.tsx";
import { begunType, CredentialTypeFields, typeIn } from "../forms/credential-type.tsx";
import { keptDraft } from "../forms/drafts.ts";
import { RadioField, SelectField } from "../forms/fields.tsx";
import { REUSED } from "../forms/sending.ts";
import { type Headers, useForm } from "../forms/use-form.ts";
import { Problem } from "../parts/problem.tsx";
import { choicesOf } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { me } from "../session/me.ts";
import { wayText } from "../text/first-run.ts";
import { isolated } from "../text/isolated.ts";
import { go, hrefHere } from "../url/location.ts";
import type { Network } from "./chosen.ts";
import {
  type Credential,
  credentialsOf,
  giveCredential,
  isGiven,
  shareCredential,
  useCredentials,
} from "./credentials.ts";
import { CREDENTIAL_CHOICES, type CredentialChoice, chosenCredentials, hrefOfStep, WAY } from "./step-address.ts";
import { StepEnd } from "./step-end.tsx";

export function CredentialsStep({ of }: { readonly of: Network }) {
  const { data, problem, again } = useCredentials();
  // Number of requests found to have been saved; each begins the form again.
  const [saved, setSaved] = useState(0);
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const show = () => {
    setSaved(saved + 1);
    again();
    go(hrefHere({ [WAY.credentials]: "own", [WAY.scan]: null }), "replace");
  };
  return <Choose key={saved} of={of} all={data} isSaved={saved > 0} onSaved={show} />;
}

interface ChooseProps {
  readonly of: Network;
  readonly all: readonly Credential[];
  /** Whether an earlier request was saved, although its answer was lost. */
  readonly isSaved: boolean;
  onSaved(): void;
}

const CREDENTIALS = {
  says: "Switches and routers tell by SNMP what they are, which ports they have and who is at the other end of each cable. They are only read, never changed.",
  choices: {
    own: (names: string) => `What this network has: ${names}`,
    other: "A credential of another network",
    v2c: "An SNMP v2c community",
    v3: "An SNMP v3 user",
    none: "None: only a sweep",
  },
  choose: "Choose one.",
  noneSays:
    "A sweep finds who answers, and on which ports. It sends no secret. Without SNMP you will not see the interfaces of switches, VLANs, links between devices, nor at which port a MAC address is: the map has devices and no links. You can add credentials at any time.",
  kept: (name: string) =>
    `It is kept encrypted as “${isolated(name)}”, for this network, and never shown again. If you reload this page before you continue, type it again.`,
  unsure:
    "It is not known whether what you sent was saved. Enter it again and continue to find out: it is saved only once.",
  wasSaved: "What you sent before was saved. To type another one, choose so.",
  nameOf: { v2c: (network: string) => `SNMP v2c, ${network}`, v3: (network: string) => `SNMP v3, ${network}` },
  other: "Credential",
  security_name: "User",
  auth_protocol: "Authentication",
  priv_protocol: "Encryption",
  secrets: {
    community: "Community",
    auth_password: "Authentication password",
    priv_password: "Encryption password",
  },
  context_name: "Context",
  contextHelp: "Most devices have none.",
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

function Choose({ of, all, isSaved, onSaved }: ChooseProps) {
  const own = credentialsOf(all, of.id);
  const others = all.filter((each) => !own.includes(each));
  const offered = CREDENTIAL_CHOICES.filter(
    (each) => (each !== "own" || own.length > 0) && (each !== "other" || others.length > 0),
  );
  const said = chosenCredentials() ?? (own.length > 0 ? "own" : null);
  const choice = offered.find((each) => each === said) ?? null;
  const draft = { userId: me.peek()?.id ?? "", kind: "first credential", id: of.id };
  const form = useForm({ id: "way", draft, begun: { ...begunType(null), other: others[0]?.id ?? "" } });
  /** Whether the request with the key was saved. */
  const isSavedAs = async (key: string) => {
    if (!(await isGiven(key))) return false;
    form.forget();
    onSaved();
    return true;
  };
  // After a reload. On failure, the check is repeated with the next request.
  useEffect(() => {
    const { sentAs } = keptDraft(draft) ?? {};
    if (sentAs !== undefined) isSavedAs(sentAs).catch(() => false);
  }, []);
  const isNew = choice === "v2c" || choice === "v3";
  const type = choice === "v3" ? "SnmpV3" : "SnmpV2c";
  const run = async ({ header }: Headers) => {
    if (choice === "other") await shareCredential(of, form.text("other"));
    if (isNew) {
      const key = header["Idempotency-Key"];
      const name = CREDENTIALS.nameOf[choice](of.name);
      try {
        await giveCredential(of, name, typeIn(form, type), key);
      } catch (cause) {
        if (asRefusal(cause).code === REUSED && (await isSavedAs(key))) return;
        throw cause;
      }
    }
    form.forget();
    go(hrefOfStep("scan", { [WAY.credentials]: choice === "none" ? "none" : "own" }));
  };
  const labels: Readonly<Record<CredentialChoice, string>> = {
    ...CREDENTIALS.choices,
    own: CREDENTIALS.choices.own(own.map(({ name }) => name).join(", ")),
  };
  return (
    <form class="steps" noValidate method="post" autoComplete="off" onSubmit={(event) => form.submit(event, run)}>
      <p class="prose">{CREDENTIALS.says}</p>
      <FormProblem form={form} />
      {form.isLost && isNew && (
        <p class="note" role="status">
          {CREDENTIALS.unsure}
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
        label={wayText.question.credentials}
        isUnseen
        options={offered.map((value) => [value, labels[value]])}
        chosen={choice}
        wrong={choice === null ? CREDENTIALS.choose : null}
        onChoose={(next) => {
          form.refuse(null);
          go(hrefHere({ [WAY.credentials]: next, [WAY.scan]: null }), "replace");
        }}
      />
      {choice === "other" && (
        <SelectField form={form} name="other" label={CREDENTIALS.other} options={choicesOf(others)} />
      )}
      {isNew && <CredentialTypeFields form={form} type={type} words={CREDENTIALS} />}
      {isNew && <p class="prose aside">{CREDENTIALS.kept(CREDENTIALS.nameOf[choice](of.name))}</p>}
      {choice === "none" && <p class="prose">{CREDENTIALS.noneSays}</p>}
      <StepEnd step="credentials">
        <button type="submit" class="primary" disabled={form.isBusy}>
          {form.isBusy ? "One moment…" : isNew ? CREDENTIALS.save : "Continue"}
        </button>
      </StepEnd>
    </form>
  );
}
