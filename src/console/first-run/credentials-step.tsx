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
import { credentialsText, wayText } from "../text/first-run.ts";
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
      const name = credentialsText.nameOf[choice](of.name);
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
    ...credentialsText.choices,
    own: credentialsText.choices.own(own.map(({ name }) => name).join(", ")),
  };
  return (
    <form class="steps" noValidate method="post" autoComplete="off" onSubmit={(event) => form.submit(event, run)}>
      <p class="prose">{credentialsText.says}</p>
      <FormProblem form={form} />
      {form.isLost && isNew && (
        <p class="note" role="status">
          {credentialsText.unsure}
        </p>
      )}
      {isSaved && choice === "own" && (
        <p class="note" role="status">
          {credentialsText.wasSaved}
        </p>
      )}
      <RadioField
        form={form}
        name="credentials"
        label={wayText.question.credentials}
        isUnseen
        options={offered.map((value) => [value, labels[value]])}
        chosen={choice}
        wrong={choice === null ? credentialsText.choose : null}
        onChoose={(next) => {
          form.refuse(null);
          go(hrefHere({ [WAY.credentials]: next, [WAY.scan]: null }), "replace");
        }}
      />
      {choice === "other" && (
        <SelectField form={form} name="other" label={credentialsText.other} options={choicesOf(others)} />
      )}
      {isNew && <CredentialTypeFields form={form} type={type} words={credentialsText} />}
      {isNew && <p class="prose aside">{credentialsText.kept(credentialsText.nameOf[choice](of.name))}</p>}
      {choice === "none" && <p class="prose">{credentialsText.noneSays}</p>}
      <StepEnd step="credentials">
        <button type="submit" class="primary" disabled={form.isBusy}>
          {form.isBusy ? wayText.working : isNew ? credentialsText.save : wayText.next}
        </button>
      </StepEnd>
    </form>
  );
}
