// Third step of the wizard: credentials for devices, or none. The choice is in the address; secrets exist only in the
// page. An idempotency key prevents duplicates.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { newRequestKey } from "../forms/request-key.ts";
import { TextField } from "../forms/text-field.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { credentialsText, wayText } from "../text/first-run.ts";
import { ownValue } from "../text/own-value.ts";
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
import {
  AUTH_PROTOCOLS,
  type NewKind,
  NOTHING_TYPED,
  PRIV_PROTOCOLS,
  type TypedCredential,
  wrongWithTyped,
} from "./credentials-typed.ts";
import { keepTry, keptTry } from "./kept-try.ts";
import { CREDENTIAL_CHOICES, type CredentialChoice, chosenCredentials, hrefOfStep, WAY } from "./step-address.ts";
import { StepEnd } from "./step-end.tsx";

export function CredentialsStep({ of }: { readonly of: Network }) {
  const { data, problem, again } = useCredentials();
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  return <Choose of={of} all={data} onSaved={again} />;
}

/** API error code for a key already used with another request. */
const REUSED = "idempotency_key_reused";

type Wrong = Partial<Record<keyof TypedCredential | "choice", string>>;

interface ChooseProps {
  readonly of: Network;
  readonly all: readonly Credential[];
  /** Called when a credential was added. */
  onSaved(): void;
}

function Choose({ of, all, onSaved }: ChooseProps) {
  const own = credentialsOf(all, of.id);
  const others = all.filter((each) => !own.includes(each));
  const offered = CREDENTIAL_CHOICES.filter(
    (each) => (each !== "own" || own.length > 0) && (each !== "other" || others.length > 0),
  );
  const said = chosenCredentials() ?? (own.length > 0 ? "own" : null);
  const choice = offered.find((each) => each === said) ?? null;
  const [unsure, setUnsure] = useState(() => keptTry(of.id));
  const [isSaved, setSaved] = useState(false);
  const [typed, setTyped] = useState(unsure?.typed ?? NOTHING_TYPED);
  const [otherId, setOtherId] = useState(others[0]?.id ?? "");
  const [wrong, setWrong] = useState<Wrong>({});
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const type = (changes: Partial<TypedCredential>) => {
    setTyped({ ...typed, ...changes });
    setWrong({});
  };
  const choose = (next: CredentialChoice) => {
    setWrong({});
    setProblem(null);
    go(hrefHere({ [WAY.credentials]: next, [WAY.scan]: null }), "replace");
  };
  const forget = () => {
    keepTry(of.id, null);
    setUnsure(null);
  };
  /** Whether the request with the key was saved; if so, shows the credential as one of the network's own. */
  const isSavedAs = async (key: string) => {
    if (!(await isGiven(key))) return false;
    forget();
    setSaved(true);
    onSaved();
    go(hrefHere({ [WAY.credentials]: "own", [WAY.scan]: null }), "replace");
    return true;
  };
  // After a reload. On failure, the check is repeated with the next request.
  useEffect(() => {
    if (unsure !== null) isSavedAs(unsure.key).catch(() => false);
  }, []);
  const give = async (kind: NewKind) => {
    // A possibly saved request keeps its key, to prevent a duplicate.
    const key = unsure?.key ?? newRequestKey();
    keepTry(of.id, { key, typed });
    try {
      await giveCredential(of, kind, typed, key);
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (isUnsure(refusal)) setUnsure({ key, typed });
      else if (refusal.code === REUSED) {
        if (await isSavedAs(key)) return;
        forget();
      } else if (unsure === null) forget();
      throw refusal;
    }
    forget();
    goOn(false);
  };
  const goOn = (isNone: boolean) => go(hrefOfStep("scan", { [WAY.credentials]: isNone ? "none" : "own" }));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const found: Wrong =
      choice === null
        ? { choice: credentialsText.choose }
        : choice === "v2c" || choice === "v3"
          ? wrongWithTyped(choice, typed)
          : {};
    setWrong(found);
    setProblem(null);
    const [first] = Object.keys(found);
    if (first !== undefined) {
      const id = first === "choice" ? `way-credentials-${offered[0]}` : `way-${first}`;
      requestAnimationFrame(() => document.getElementById(id)?.focus());
      return;
    }
    if (choice === "own" || choice === "none") return goOn(choice === "none");
    setBusy(true);
    try {
      if (choice === "other") {
        await shareCredential(of, otherId);
        goOn(false);
      }
      if (choice === "v2c" || choice === "v3") await give(choice);
    } catch (cause) {
      setProblem(asRefusal(cause));
    }
    setBusy(false);
  };
  const labels: Readonly<Record<CredentialChoice, string>> = {
    ...credentialsText.choices,
    own: credentialsText.choices.own(own.map(({ name }) => name).join(", ")),
  };
  const isNew = choice === "v2c" || choice === "v3";
  return (
    <form class="steps" noValidate method="post" autoComplete="off" onSubmit={(event) => void submit(event)}>
      <p class="prose">{credentialsText.says}</p>
      {problem !== null && <Problem problem={problem} />}
      {unsure !== null && isNew && (
        <p class="note" role="status">
          {credentialsText.unsure}
        </p>
      )}
      {isSaved && choice === "own" && (
        <p class="note" role="status">
          {credentialsText.wasSaved}
        </p>
      )}
      <fieldset class="way-choices" aria-describedby={wrong.choice === undefined ? undefined : "way-choice-wrong"}>
        <legend class="unseen">{wayText.question.credentials}</legend>
        {offered.map((each) => (
          <div class="way-choice" key={each}>
            <input
              id={`way-credentials-${each}`}
              type="radio"
              name="credentials"
              checked={each === choice}
              onChange={() => choose(each)}
            />
            <label for={`way-credentials-${each}`}>
              <bdi>{labels[each]}</bdi>
            </label>
          </div>
        ))}
      </fieldset>
      {wrong.choice !== undefined && (
        <p class="edit-wrong" id="way-choice-wrong" role="alert">
          {wrong.choice}
        </p>
      )}
      {choice === "other" && (
        <Field id="way-other" label={credentialsText.other}>
          <select id="way-other" value={otherId} onChange={({ currentTarget: { value } }) => setOtherId(value)}>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      )}
      {choice === "v2c" && (
        <Secret
          name="community"
          label={credentialsText.community}
          {...{ typed, wrong }}
          onType={(community) => type({ community })}
        />
      )}
      {choice === "v3" && <V3Fields {...{ typed, wrong, type }} />}
      {isNew && <p class="prose aside">{credentialsText.kept(credentialsText.nameOf[choice](of.name))}</p>}
      {choice === "none" && <p class="prose">{credentialsText.noneSays}</p>}
      <StepEnd step="credentials">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? wayText.working : isNew ? credentialsText.save : wayText.next}
        </button>
      </StepEnd>
    </form>
  );
}

interface FieldsProps {
  readonly typed: TypedCredential;
  readonly wrong: Wrong;
}

function V3Fields({
  typed,
  wrong,
  type,
}: FieldsProps & { readonly type: (changes: Partial<TypedCredential>) => void }) {
  return (
    <>
      <TextField
        id="way-user"
        label={credentialsText.user}
        value={typed.user}
        wrong={wrong.user ?? null}
        onType={(user) => type({ user })}
      />
      <Protocol
        name="authProtocol"
        label={credentialsText.authProtocol}
        protocols={AUTH_PROTOCOLS}
        {...{ typed, wrong }}
        onChoose={(authProtocol) => type({ authProtocol })}
      />
      {typed.authProtocol !== "None" && (
        <Secret
          name="authPassword"
          label={credentialsText.authPassword}
          {...{ typed, wrong }}
          onType={(authPassword) => type({ authPassword })}
        />
      )}
      <Protocol
        name="privProtocol"
        label={credentialsText.privProtocol}
        protocols={PRIV_PROTOCOLS}
        {...{ typed, wrong }}
        onChoose={(privProtocol) => type({ privProtocol })}
      />
      {typed.privProtocol !== "None" && (
        <Secret
          name="privPassword"
          label={credentialsText.privPassword}
          {...{ typed, wrong }}
          onType={(privPassword) => type({ privPassword })}
        />
      )}
      <TextField
        id="way-context"
        label={credentialsText.context}
        value={typed.context}
        help={credentialsText.contextHelp}
        wrong={null}
        isRequired={false}
        onType={(context) => type({ context })}
      />
    </>
  );
}

function Field(props: { readonly id: string; readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="edit-field">
      <label for={props.id}>{props.label}</label>
      <div>{props.children}</div>
    </div>
  );
}

interface ProtocolProps<Name extends string> extends FieldsProps {
  readonly name: "authProtocol" | "privProtocol";
  readonly label: string;
  readonly protocols: readonly Name[];
  readonly onChoose: (protocol: Name) => void;
}

function Protocol<Name extends string>({ name, label, protocols, typed, wrong, onChoose }: ProtocolProps<Name>) {
  const said = wrong[name];
  return (
    <Field id={`way-${name}`} label={label}>
      <select
        id={`way-${name}`}
        value={typed[name]}
        aria-invalid={said !== undefined}
        aria-describedby={said === undefined ? undefined : `way-${name}-wrong`}
        onChange={({ currentTarget: { selectedIndex } }) => {
          const protocol = protocols[selectedIndex];
          if (protocol !== undefined) onChoose(protocol);
        }}
      >
        {protocols.map((each) => (
          <option key={each} value={each}>
            {ownValue(credentialsText.protocols, each) ?? each}
          </option>
        ))}
      </select>
      {said !== undefined && (
        <p class="edit-wrong" id={`way-${name}-wrong`}>
          {said}
        </p>
      )}
    </Field>
  );
}

interface SecretProps extends FieldsProps {
  readonly name: "community" | "authPassword" | "privPassword";
  readonly label: string;
  readonly onType: (value: string) => void;
}

/** Hidden by default; excluded from the browser's password manager. */
function Secret({ name, label, typed, wrong, onType }: SecretProps) {
  const [isShown, setShown] = useState(false);
  return (
    <TextField
      id={`way-${name}`}
      label={label}
      value={typed[name]}
      wrong={wrong[name] ?? null}
      type={isShown ? "text" : "password"}
      autoComplete="new-password"
      onType={onType}
    >
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        {credentialsText.show}
      </button>
    </TextField>
  );
}
