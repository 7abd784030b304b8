// TLS guarantees of the appliance itself: cookie attributes, HSTS, permissions of the key file, and no service beyond
// loopback without TLS.

import type { Finding, ProofContext } from "../part.ts";
import { headerOf } from "./raw-client.ts";
import { accessibleByOthers } from "./secret-search.ts";
import { OWNER_EMAIL, OWNER_PASSWORD, populate, Testbed } from "./testbed.ts";

export async function proveEncryption(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "encryption");
  try {
    await populate(testbed);
    const plain = await testbed.send("GET", "/api/health", undefined);
    await testbed.stop();
    const refusal = await testbed.start([], "0.0.0.0:0").then(
      () => "listening",
      (error: unknown) => String(error),
    );
    await testbed.close();
    await testbed.start(["--tls-self-signed"]);
    const { url } = testbed.running;
    const request = (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { ...init, keepalive: false, tls: { rejectUnauthorized: false } } as RequestInit);
    const signIn = await request("/api/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-proto": "http", origin: url },
      body: JSON.stringify({ email: OWNER_EMAIL, password: OWNER_PASSWORD }),
    });
    const [cookie = ""] = signIn.headers.getSetCookie();
    const me = await request("/api/auth/me", { headers: { cookie: cookie.split(";")[0] ?? "" } });
    const foreign = await request("/api/auth/logout", {
      method: "POST",
      headers: { cookie: cookie.split(";")[0] ?? "", origin: "https://evil.example" },
    });
    const hsts = await Promise.all(
      ["/", "/docs", "/api/health", "/api/v1/hosts", "/nothing"].map(
        async (path) =>
          (await request(path, { redirect: "manual" })).headers.get("strict-transport-security") ?? "none",
      ),
    );
    const overPlainHttp = await testbed.send("GET", "/api/health", undefined).then(
      ({ status }) => String(status),
      () => "no response",
    );
    const exposed = accessibleByOthers(testbed.data);
    return [
      {
        claim:
          "under TLS the session cookie is Secure regardless of headers, and every response has HSTS, unlike without TLS",
        held:
          signIn.status === 200 &&
          me.status === 200 &&
          foreign.status === 403 &&
          /; Secure/.test(cookie) &&
          /; HttpOnly/.test(cookie) &&
          hsts.every((value) => /^max-age=\d{7,}/.test(value)) &&
          headerOf(plain, "strict-transport-security") === null,
        figure: `${cookie.replace(/=[\w-]{43}/, "=…")}; ${[...new Set(hsts)].join(", ")}; plain: ${headerOf(plain, "strict-transport-security") ?? "none"}`,
      },
      {
        claim: "plain HTTP on the TLS port gets no data, and the self-signed key is readable by its owner only",
        held: overPlainHttp !== "200" && exposed.length === 0,
        figure: `plain HTTP: ${overPlainHttp}; ${exposed.join(", ") || "nothing is open to others"}`,
      },
      {
        claim: "without TLS the appliance does not listen beyond this machine, except by configuration",
        held: refusal.includes("--plain-http"),
        figure: refusal
          .replace(/^.*netledger: /s, "")
          .slice(0, 200)
          .trim(),
      },
    ];
  } finally {
    await testbed.close();
  }
}
