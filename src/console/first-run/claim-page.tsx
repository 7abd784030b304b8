// Claim page of an unowned appliance: the holder of the set-up token creates the organization, the first network and
// their own account as Owner. The token is never shown, and is sent only in the body of the claim request.

import { useEffect } from "preact/hooks";
import { LIMITS } from "#limits";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { FormProblem } from "../forms/ask-first.tsx";
import { SecretField, TextField } from "../forms/fields.tsx";
import { useFirstFocus } from "../forms/sending.ts";
import { useForm } from "../forms/use-form.ts";
import { Copied } from "../parts/copied.tsx";
import { claimAppliance, comeIn } from "../session/me.ts";
import { setupToken, setupTokenIn } from "../session/setup-token.ts";
import { go, hrefOf } from "../url/location.ts";

interface ClaimPageProps {
  /** Called if another user has claimed the appliance first. */
  onClaimedBefore(): void;
}

const DEFAULTS = { organization: "My organization", network: "Main" };

const FIELDS = {
  setup_token: "Set-up token",
  name: "Your name",
  email: "E-mail",
  password: "Password",
  organization_name: "Organization",
  network_name: "Network",
};

export function ClaimPage({ onClaimedBefore }: ClaimPageProps) {
  const { organization, network } = DEFAULTS;
  const form = useForm({ id: "claim", begun: { organization_name: organization, network_name: network } });
  const element = useFirstFocus<HTMLFormElement>();
  const token = setupToken.value;
  useEffect(() => {
    document.title = "Claim this appliance · netledger";
  }, []);
  const claim = async () => {
    const { text } = form;
    const pasted = text("setup_token");
    try {
      const networkId = await claimAppliance({
        setup_token: token ?? setupTokenIn(pasted) ?? pasted,
        email: text("email"),
        password: form.secret("password"),
        organization_name: text("organization_name"),
        network_name: text("network_name"),
        ...(text("name") === "" ? {} : { name: text("name") }),
      });
      // Before `comeIn`, so that no other page is shown in between.
      go(hrefOf("/start", { network: networkId }), "replace");
      await comeIn();
      setupToken.value = null;
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.code === "entity_already_exists") return onClaimedBefore();
      if (refusal.code !== "auth_invalid_credentials") throw refusal;
      setupToken.value = null;
      const { message } = refusal;
      throw new Refusal({
        ...refusal,
        message,
        issues: [
          {
            path: "/setup_token",
            message: "This is not the token of the running appliance. Each start prints a new one: take the last.",
          },
        ],
      });
    }
  };
  const field = (name: "setup_token" | "name" | "email" | "organization_name" | "network_name") => ({
    ...{ form, name, label: FIELDS[name], limits: LIMITS.setUp[name] },
  });
  const { minLength } = LIMITS.setUp.password;
  return (
    <main class="first-run claim" id="content">
      <h1>Claim this appliance</h1>
      <p>
        It has no owner yet. Enter your name and a name for your network; four short steps then lead to its first map.
      </p>
      <form ref={element} class="steps" noValidate method="post" onSubmit={(event) => form.submit(event, claim)}>
        {token === null && (
          <TextField
            {...field("setup_token")}
            help="Where netledger was started, it printed a link that begins with “Claim it”: open it, or paste it here."
          />
        )}
        <TextField {...field("name")} autoComplete="name" help="As others see it in the history. Optional." />
        <TextField
          {...field("email")}
          type="email"
          autoComplete="username"
          help="You sign in with it. Nothing is sent to it."
        />
        <SecretField
          form={form}
          name="password"
          label={FIELDS.password}
          limits={LIMITS.setUp.password}
          help={`At least ${minLength} characters. A sentence is easy to keep.`}
        />
        <TextField {...field("organization_name")} autoComplete="organization" />
        <TextField
          {...field("network_name")}
          help="A site, or all you look after. More can be added, and every name can be changed."
        />
        <FormProblem form={form} />
        {form.isLost && (
          <p class="note">
            It is not known whether it was claimed. Trying again is safe: a claimed appliance stays unchanged.
          </p>
        )}
        <p>
          <button type="submit" class="primary" disabled={form.isBusy}>
            {form.isBusy ? "Claiming…" : "Claim it"}
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
      <h2>Look around in the demo first</h2>
      <p>A made-up campus with a month of history, in a folder of its own. In a terminal; it prints how to sign in:</p>
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
