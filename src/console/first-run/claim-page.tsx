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
import { claimText } from "../text/claim.ts";
import { frameText } from "../text/frame.ts";
import { go, hrefOf } from "../url/location.ts";

interface ClaimPageProps {
  /** Called if another user has claimed the appliance first. */
  onClaimedBefore(): void;
}

export function ClaimPage({ onClaimedBefore }: ClaimPageProps) {
  const { organization, network } = claimText.defaults;
  const form = useForm({ id: "claim", begun: { organization_name: organization, network_name: network } });
  const element = useFirstFocus<HTMLFormElement>();
  const token = setupToken.value;
  useEffect(() => {
    document.title = `${claimText.title} · ${frameText.name}`;
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
      throw new Refusal({ ...refusal, message, issues: [{ path: "/setup_token", message: claimText.wrongToken }] });
    }
  };
  const field = (name: "setup_token" | "name" | "email" | "organization_name" | "network_name") => ({
    ...{ form, name, label: claimText.fields[name], limits: LIMITS.setUp[name] },
  });
  const { minLength } = LIMITS.setUp.password;
  return (
    <main class="first-run claim" id="content">
      <h1>{claimText.title}</h1>
      <p>{claimText.intro}</p>
      <form ref={element} class="steps" noValidate method="post" onSubmit={(event) => form.submit(event, claim)}>
        {token === null && <TextField {...field("setup_token")} help={claimText.tokenHelp} />}
        <TextField {...field("name")} autoComplete="name" help={claimText.nameHelp} />
        <TextField {...field("email")} type="email" autoComplete="username" help={claimText.emailHelp} />
        <SecretField
          form={form}
          name="password"
          label={claimText.fields.password}
          limits={LIMITS.setUp.password}
          help={claimText.passwordHelp(minLength)}
        />
        <TextField {...field("organization_name")} autoComplete="organization" />
        <TextField {...field("network_name")} help={claimText.networkHelp} />
        <FormProblem form={form} />
        {form.isLost && <p class="note">{claimText.unsure}</p>}
        <p>
          <button type="submit" class="primary" disabled={form.isBusy}>
            {form.isBusy ? claimText.claiming : claimText.claim}
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
