// Form that tries a credential on one address, with live steps. The secret stays on the appliance.

import { useEffect, useRef, useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { isAborted } from "../api/client.ts";
import { SubmitButton } from "../components/buttons.tsx";
import { TextFact } from "../components/fact-values.tsx";
import { choicesOf } from "../components/select.tsx";
import type { Choice } from "../forms/choices.ts";
import { FormProblem } from "../forms/confirm-form.tsx";
import { SelectField, TextField } from "../forms/fields.tsx";
import { useForm } from "../forms/use-form.ts";
import { may } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { ownValue } from "../text/own-value.ts";
import { isPast, vs } from "../time/at.ts";
import { followTrial, type Trial, type TrialStep } from "./trial.ts";

/** Whether the user may try credentials: only when viewing current data. */
export function mayTry(): boolean {
  return !isPast.value && vs.value === null && may("tryCredential");
}

interface TryCredentialProps {
  /** Credentials to choose from. */
  readonly credentials: readonly Choice[];
  readonly networks: readonly Choice[];
  /** Initial address. */
  readonly address?: string;
}

export function TryCredential({ credentials, networks, address = "" }: TryCredentialProps) {
  const [trial, setTrial] = useState<Trial | null>(null);
  /** Finished steps. */
  const [steps, setSteps] = useState<readonly TrialStep[]>([]);
  const [first] = credentials;
  const form = useForm({ initial: { ip_address: address } });
  // The choices may load later than the form.
  const credentialId = form.text("credential") || (first?.id ?? "");
  const networkId = form.text("network_id") || (networks[0]?.id ?? "");
  const { isBusy } = form;
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async () => {
    const abort = new AbortController();
    running.current = abort;
    setTrial(null);
    setSteps([]);
    const body = { network_id: networkId, ip_address: form.text("ip_address") };
    const add = (step: TrialStep) => setSteps((last) => [...last, step]);
    try {
      setTrial(await followTrial(credentialId, body, abort.signal, add));
    } catch (cause) {
      if (!abort.signal.aborted && !isAborted(cause)) throw cause;
    }
  };
  if (first === undefined || networks.length === 0) return null;
  const select = (name: string, label: string, choices: readonly Choice[], chosen: string) =>
    choices.length > 1 && <SelectField {...{ form, name, label, chosen }} options={choicesOf(choices)} />;
  return (
    <section class="trial" aria-label={credentialText.tryIt}>
      <p class="prose">{credentialText.tryDescription}</p>
      <form class="trial-ask" noValidate onSubmit={(event) => form.submit(event, run)}>
        {select("credential", credentialText.tryWhich, credentials, credentialId)}
        <TextField form={form} limits={LIMITS.tryCredential.ip_address} label={credentialText.tryAddress} />
        {select("network_id", credentialText.tryNetwork, networks, networkId)}
        <SubmitButton label={trial === null ? credentialText.tryIt : credentialText.tryAgain} disabled={isBusy} />
      </form>
      <div role="status">
        {isBusy && <p class="aside">{credentialText.trying}</p>}
        {trial !== null && <Outcome trial={trial} />}
      </div>
      <FormProblem form={form} />
      {(isBusy || steps.length > 0) && <Steps steps={trial?.steps ?? steps} />}
    </section>
  );
}

function Outcome({ trial: { is_working, conclusion, duration_ms } }: { readonly trial: Trial }) {
  return (
    <p>
      <strong class={is_working ? "state state-up" : "state state-down"}>
        {is_working ? credentialText.works : credentialText.fails}
      </strong>
      {". "}
      {conclusion} <span class="aside">{credentialText.took(duration_ms)}</span>
    </p>
  );
}

const STATES = {
  Passed: "state state-up",
  Failed: "state state-down",
  Unclear: "state trial-unclear",
  Empty: "state",
  NotTried: "state",
} as const;

function Steps({ steps }: { readonly steps: readonly TrialStep[] }) {
  return (
    <ol class="trial-steps" aria-live="polite">
      {steps.map(({ step, outcome, sentence, duration_ms, facts }) => (
        <li key={step} class={outcome === "NotTried" ? "trial-untried" : undefined}>
          <span class="trial-name">{credentialText.steps[step]}</span>
          <span class={STATES[outcome]}>{credentialText.outcomes[outcome]}</span>
          <div>
            {sentence} {outcome !== "NotTried" && <span class="aside">{credentialText.took(duration_ms)}</span>}
            {facts.length > 0 && (
              <dl class="trial-facts">
                {facts.map(({ name, value }) => (
                  <TextFact key={name} name={ownValue(credentialText.facts, name) ?? name} text={value} />
                ))}
              </dl>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
