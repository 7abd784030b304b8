// Guarantees with the appliance's own TLS: cookie attributes, HSTS, permissions of the key file, and no service beyond
// loopback without TLS.

import type { Finding, Proving } from "../part.ts";
import { openToOthers } from "./needles.ts";
import { headerOf } from "./raw-client.ts";
import { OWNER_EMAIL, OWNER_PASSWORD, populate, Stage } from "./stage.ts";

export async function proveEncryption(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "encryption");
  try {
    await populate(stage);
    const plain = await stage.send("GET", "/api/health", undefined);
    await stage.stop();
    const refusal = await stage.start([], "0.0.0.0:0").then(
      () => "it listens",
      (error: unknown) => String(error),
    );
    await stage.close();
    await stage.start(["--tls-self-signed"]);
    const { url } = stage.running;
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { ...init, keepalive: false, tls: { rejectUnauthorized: false } } as RequestInit);
    const signIn = await ask("/api/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-proto": "http", origin: url },
      body: JSON.stringify({ email: OWNER_EMAIL, password: OWNER_PASSWORD }),
    });
    const [cookie = ""] = signIn.headers.getSetCookie();
    const me = await ask("/api/auth/me", { headers: { cookie: cookie.split(";")[0] ?? "" } });
    const foreign = await ask("/api/auth/logout", {
      method: "POST",
      headers: { cookie: cookie.split(";")[0] ?? "", origin: "https://evil.example" },
    });
    const strict = await Promise.all(
      ["/", "/docs", "/api/health", "/api/v1/hosts", "/nothing"].map(
        async (path) => (await ask(path, { redirect: "manual" })).headers.get("strict-transport-security") ?? "none",
      ),
    );
    const byPlain = await stage.send("GET", "/api/health", undefined).then(
      ({ status }) => String(status),
      () => "no answer",
    );
    const open = openToOthers(stage.data);
    return [
      {
        claim:
          "under TLS the session cookie is Secure whatever the headers, and every answer has HSTS, unlike without TLS",
        held:
          signIn.status === 200 &&
          me.status === 200 &&
          foreign.status === 403 &&
          /; Secure/.test(cookie) &&
          /; HttpOnly/.test(cookie) &&
          strict.every((each) => /^max-age=\d{7,}/.test(each)) &&
          headerOf(plain, "strict-transport-security") === null,
        figure: `${cookie.replace(/=[\w-]{43}/, "=…")}; ${[...new Set(strict)].join(", ")}; plain: ${headerOf(plain, "strict-transport-security") ?? "none"}`,
      },
      {
        claim: "plain HTTP on the TLS port gets no data, and the self-signed key is readable by its owner only",
        held: byPlain !== "200" && open.length === 0,
        figure: `plain HTTP: ${byPlain}; ${open.join(", ") || "nothing is open to others"}`,
      },
      {
        claim: "it does not listen beyond this machine without TLS, except by configuration",
        held: refusal.includes("--plain-http"),
        figure: refusal
          .replace(/^.*netledger: /s, "")
          .slice(0, 200)
          .trim(),
      },
    ];
  } finally {
    await stage.close();
  }
}
