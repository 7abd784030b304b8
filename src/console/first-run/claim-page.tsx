// Claim page of an unowned appliance: the holder of the set-up token creates the organization, the first network and
// their own account as Owner. The token is never shown, and is sent only in the body of the claim request.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FORMS } from "#forms";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { type FormField, wrongWith } from "../forms/field.ts";
import { TextField } from "../forms/text-field.tsx";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { claimAppliance, comeIn } from "../session/me.ts";
import { setupToken, setupTokenIn } from "../session/setup-token.ts";
import { claimText } from "../text/claim.ts";
import { editText } from "../text/editing.ts";
import { frameText } from "../text/frame.ts";
import { go, hrefOf } from "../url/location.ts";

const FIELDS: readonly FormField[] = FORMS.setUp;

const NAMES = ["setup_token", "name", "email", "password", "organization_name", "network_name"] as const;
type FieldName = (typeof NAMES)[number];
type Typed = Readonly<Record<FieldName, string>>;

/** Initial values. */
const BEGUN: Typed = {
  setup_token: "",
  name: "",
  email: "",
  password: "",
  organization_name: claimText.defaults.organization,
  network_name: claimText.defaults.network,
};

interface ClaimPageProps {
  /** Called if another user has claimed the appliance first. */
  onClaimedBefore(): void;
}

export function ClaimPage({ onClaimedBefore }: ClaimPageProps) {
  const [typed, setTyped] = useState<Typed>(BEGUN);
  const [wrong, setWrong] = useState<Partial<Typed>>({});
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isPasswordShown, setPasswordShown] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const token = setupToken.value;
  useEffect(() => {
    document.title = `${claimText.title} · ${frameText.name}`;
  }, []);
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  const show = (found: Partial<Typed>) => {
    setWrong(found);
    const first = NAMES.find((name) => found[name] !== undefined);
    // The error may render the field first.
    if (first !== undefined) requestAnimationFrame(() => document.getElementById(idOf(first))?.focus());
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const claim = { ...typed, setup_token: token ?? setupTokenIn(typed.setup_token) ?? typed.setup_token };
    const found = wrongOf(claim);
    show(found);
    setProblem(null);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    try {
      const { name, ...rest } = claim;
      const networkId = await claimAppliance({ ...rest, ...(name.trim() === "" ? {} : { name }) });
      // Before `comeIn`, so that no other page is shown in between.
      go(hrefOf("/start", { network: networkId }), "replace");
      await comeIn();
      setupToken.value = null;
    } catch (cause) {
      const refusal = asRefusal(cause);
      setBusy(false);
      if (refusal.code === "entity_already_exists") return onClaimedBefore();
      if (refusal.code === "auth_invalid_credentials") {
        setupToken.value = null;
        return show({ setup_token: claimText.wrongToken });
      }
      const said = saidAtFields(refusal);
      if (Object.keys(said).length > 0) show(said);
      else setProblem(refusal);
    }
  };
  const fieldProps = (name: FieldName) => ({
    id: idOf(name),
    label: claimText.fields[name],
    value: typed[name],
    wrong: wrong[name] ?? null,
    onType: (value: string) => {
      setTyped({ ...typed, [name]: value });
      setWrong({ ...wrong, [name]: undefined });
    },
  });
  return (
    <main class="first-run claim" id="content">
      <h1>{claimText.title}</h1>
      <p>{claimText.intro}</p>
      <form ref={form} class="steps" noValidate method="post" onSubmit={(event) => void submit(event)}>
        {(token === null || wrong.setup_token !== undefined) && (
          <TextField {...fieldProps("setup_token")} help={claimText.tokenHelp} />
        )}
        <TextField {...fieldProps("name")} autoComplete="name" isRequired={false} help={claimText.nameHelp} />
        <TextField {...fieldProps("email")} type="email" autoComplete="username" help={claimText.emailHelp} />
        <TextField
          {...fieldProps("password")}
          type={isPasswordShown ? "text" : "password"}
          autoComplete="new-password"
          help={claimText.passwordHelp(FIELDS.find(({ name }) => name === "password")?.minLength ?? 0)}
        >
          <button type="button" aria-pressed={isPasswordShown} onClick={() => setPasswordShown(!isPasswordShown)}>
            {claimText.showPassword}
          </button>
        </TextField>
        <TextField {...fieldProps("organization_name")} autoComplete="organization" />
        <TextField {...fieldProps("network_name")} help={claimText.networkHelp} />
        {problem !== null && <Problem problem={problem} />}
        {problem?.code === "unreachable" && <p class="note">{claimText.unsure}</p>}
        <p>
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? claimText.claiming : claimText.claim}
          </button>
        </p>
      </form>
      <Demo />
    </main>
  );
}

/** Alternative for users who want to try the product first. */
function Demo() {
  return (
    <section>
      <h2>{claimText.demoTitle}</h2>
      <p>{claimText.demo}</p>
      <p class="command">
        <Copied isOffered text={demoCommand(window.location.port)} />
      </p>
    </section>
  );
}

const DEFAULT_PORT = "8080";
const NEXT_PORT = "8081";

/** Command for the demo, on the next port if this appliance uses the default one. */
function demoCommand(port: string): string {
  return `netledger serve --demo${port === DEFAULT_PORT ? ` --listen 127.0.0.1:${NEXT_PORT}` : ""}`;
}

function idOf(name: FieldName): string {
  return `claim-${name}`;
}

/** Errors detectable before sending. */
function wrongOf(claim: Typed): Partial<Typed> {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = claim[field.name as FieldName];
      const unsaid = field.isRequired ? editText.wrong.required : null;
      const said = value.trim() === "" ? unsaid : wrongWith(field, value);
      return said === null ? [] : [[field.name, said]];
    }),
  );
}

/** API messages by field; empty if there are others. */
function saidAtFields({ issues }: Refusal): Partial<Typed> {
  const said = issues.map(({ path, message }) => [NAMES.find((name) => path === `/${name}`), message] as const);
  return said.some(([name]) => name === undefined) ? {} : Object.fromEntries(said);
}
