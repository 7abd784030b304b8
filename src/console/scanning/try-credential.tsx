// Trial of a credential on one address, with live steps. Device output is shown as plain text only. The secret stays on
// the appliance.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { asRefusal, isAborted } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { ownValue } from "../text/own-value.ts";
import { isPast, vs } from "../time/at.ts";
import { followTrial, type Trial, type TrialStep } from "./trial.ts";

/** Whether the user may try credentials: only in the present. */
export function mayTry(): boolean {
  return !isPast.value && vs.value === null && may("tryCredential");
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

interface TryCredentialProps {
  /** Choices; one credential is tried. */
  readonly credentials: readonly Choice[];
  readonly networks: readonly Choice[];
  /** Initial address. */
  readonly address?: string;
}

export function TryCredential({ credentials, networks, address = "" }: TryCredentialProps) {
  const [trial, setTrial] = useState<Trial | null>(null);
  /** Finished steps. */
  const [steps, setSteps] = useState<readonly TrialStep[]>([]);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const underWay = useRef<AbortController | null>(null);
  const ids = { credential: useId(), address: useId(), network: useId() };
  useEffect(() => () => underWay.current?.abort(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const abort = new AbortController();
    underWay.current = abort;
    setBusy(true);
    setProblem(null);
    setTrial(null);
    setSteps([]);
    try {
      const body = {
        network_id: String(form.get("network")),
        ip_address: String(form.get("address")).trim(),
      };
      const add = (step: TrialStep) => setSteps((last) => [...last, step]);
      setTrial(await followTrial(String(form.get("credential")), body, abort.signal, add));
    } catch (cause) {
      if (abort.signal.aborted || isAborted(cause)) return;
      setProblem(asRefusal(cause));
    }
    setBusy(false);
  };
  const [first] = credentials;
  if (first === undefined || networks.length === 0) return null;
  return (
    <section class="trial" aria-label={credentialText.tryIt}>
      <p class="prose">{credentialText.trySays}</p>
      <form class="trial-ask" onSubmit={(event) => void submit(event)}>
        <ChoiceField id={ids.credential} name="credential" label={credentialText.tryWhich} choices={credentials} />
        <div>
          <label for={ids.address}>{credentialText.tryAddress}</label>
          <input
            id={ids.address}
            type="text"
            name="address"
            required
            maxLength={45}
            autoComplete="off"
            spellcheck={false}
            defaultValue={address}
          />
        </div>
        <ChoiceField id={ids.network} name="network" label={credentialText.tryNetwork} choices={networks} />
        <button type="submit" class="primary" disabled={isBusy}>
          {trial === null ? credentialText.tryIt : credentialText.tryAgain}
        </button>
      </form>
      <div role="status">
        {isBusy && <p class="aside">{credentialText.trying}</p>}
        {trial !== null && <Outcome trial={trial} />}
      </div>
      {problem !== null && <Problem problem={problem} />}
      {(isBusy || steps.length > 0) && <Steps steps={trial?.steps ?? steps} />}
    </section>
  );
}

interface ChoiceFieldProps {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly choices: readonly Choice[];
}

/** Hidden for a single choice. */
function ChoiceField({ id, name, label, choices }: ChoiceFieldProps) {
  const [only] = choices;
  if (choices.length === 1 && only !== undefined) return <input type="hidden" name={name} value={only.id} />;
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id}>
            {choice.name}
          </option>
        ))}
      </select>
    </div>
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
                  <div key={name}>
                    <dt>{ownValue(credentialText.facts, name) ?? name}</dt>
                    <dd>
                      <bdi>{value}</bdi>
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
