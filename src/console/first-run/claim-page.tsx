// Page to claim an appliance without an owner. The set-up token is never shown, and sent only in the request body.

import { useEffect } from "preact/hooks";
import { LIMITS } from "#limits";
import { asRefusal } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { SubmitButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { FormProblem } from "../forms/confirm-form.tsx";
import { SecretField, TextField } from "../forms/fields.tsx";
import { useForm } from "../forms/use-form.ts";
import { useFirstFocus } from "../forms/use-write.ts";
import { claimAppliance, enterSession } from "../session/me.ts";
import { setupToken, setupTokenIn } from "../session/setup-token.ts";
import { go, hrefOf } from "../url/location.ts";

const DEFAULTS = { organization_name: "My organization", network_name: "Main" };

const FIELDS = {
  setup_token: "Set-up token",
  name: "Your name",
  email: "E-mail",
  password: "Password",
  organization_name: "Organization",
  network_name: "Network",
};

const WRONG_TOKEN = "This is not the token of the running appliance. Each start prints a new one: use the latest.";

export function ClaimPage({ onAlreadyClaimed }: { onAlreadyClaimed(): void }) {
  const form = useForm({ id: "claim", initial: DEFAULTS });
  const element = useFirstFocus<HTMLFormElement>();
  const token = setupToken.value;
  useEffect(() => {
    document.title = "Claim this appliance · netledger";
  }, []);
  const claim = async () => {
    const { text } = form;
    const entered = text("setup_token");
    try {
      const networkId = await claimAppliance({
        setup_token: token ?? setupTokenIn(entered) ?? entered,
        email: text("email"),
        password: form.secret("password"),
        organization_name: text("organization_name"),
        network_name: text("network_name"),
        ...(text("name") === "" ? {} : { name: text("name") }),
      });
      // Before `enterSession`, so that no other page is shown in between.
      go(hrefOf("/start", { network: networkId }), "replace");
      await enterSession();
      setupToken.value = null;
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.code === "entity_already_exists") return onAlreadyClaimed();
      if (refusal.code !== "auth_invalid_credentials") throw refusal;
      setupToken.value = null;
      const { message } = refusal;
      throw new Refusal({ ...refusal, message, issues: [{ path: "/setup_token", message: WRONG_TOKEN }] });
    }
  };
  const field = (name: Exclude<keyof typeof FIELDS, "password">) => {
    return { form, name, label: FIELDS[name], limits: LIMITS.setUp[name] };
  };
  const { minLength } = LIMITS.setUp.password;
  return (
    <main class="first-run claim" id="content">
      <h1>Claim this appliance</h1>
      <p>
        This appliance has no owner yet. Enter your name and a network name; four short steps lead to your first map.
      </p>
      <form ref={element} class="steps" noValidate method="post" onSubmit={(event) => form.submit(event, claim)}>
        {token === null && (
          <TextField
            {...field("setup_token")}
            help="netledger printed a link after “Claim it” when it started: open the link or paste it here."
          />
        )}
        <TextField {...field("name")} autoComplete="name" help="As others see it in the history. Optional." />
        <TextField
          {...field("email")}
          type="email"
          autoComplete="username"
          help="Used to sign in. No e-mail is sent to it."
        />
        <SecretField
          form={form}
          name="password"
          label={FIELDS.password}
          limits={LIMITS.setUp.password}
          help={`At least ${minLength} characters. A sentence is easy to remember.`}
        />
        <TextField {...field("organization_name")} autoComplete="organization" />
        <TextField
          {...field("network_name")}
          help="A site, or everything you manage. You can add networks and change names later."
        />
        <FormProblem form={form} />
        {form.isLost && (
          <p class="note">
            It is unknown whether the claim succeeded. Safe to retry: a claimed appliance stays unchanged.
          </p>
        )}
        <p>
          <SubmitButton label={form.isBusy ? "Claiming…" : "Claim it"} disabled={form.isBusy} />
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
      <p>
        A fictional campus with a month of history in a separate folder. Run this in a terminal; it prints how to sign
        in:
      </p>
      <p class="command">
        <Copied hasLabel text={demoCommand(window.location.port)} />
      </p>
    </section>
  );
}

/** Command for the demo, on the next port if this appliance uses the default one. */
function demoCommand(port: string): string {
  return `netledger serve --demo${port === "8080" ? " --listen 127.0.0.1:8081" : ""}`;
}
