// Attacks on sessions: theft, fixation, sessions that outlive their expiry, cookie attributes, changed permissions.

import type { Finding, ProofContext } from "../part.ts";
import { type Header, headerOf, jsonField, type RawResponse, sessionOf } from "./raw-client.ts";
import {
  bearer,
  type Caller,
  changeMember,
  DISABLED_EMAIL,
  dataOf,
  type Json,
  keyBody,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  type People,
  populate,
  sources,
  Testbed,
} from "./testbed.ts";

/** Well-formed but unknown session, planted by an attacker. */
const PLANTED = "A".repeat(43);

export async function proveSessions(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "sessions");
  try {
    const people = await populate(testbed);
    return [
      await testFixation(testbed),
      await testSessionEnds(testbed, people),
      await testCookies(testbed),
      await testPermissions(testbed, people),
    ];
  } finally {
    await testbed.close();
  }
}

async function testFixation(testbed: Testbed): Promise<Finding> {
  const next = sources();
  const cookie = (value: string): Header => ["Cookie", value];
  const old = await testbed.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, next());
  const planted = [
    `session_id=${PLANTED}`,
    `session_id=${PLANTED}; session_id=${PLANTED}`,
    `SESSION_ID=${PLANTED}`,
    "session_id=",
    "session_id",
    `session_id="${PLANTED}"`,
    `; =; session_id=${PLANTED};`,
    `session_id=${"A".repeat(4_000)}`,
  ];
  const responses: RawResponse[] = [];
  for (const value of planted)
    responses.push(await testbed.signIn(MEMBER_EMAIL, PERSON_PASSWORD, next(), [cookie(value)]));
  const [, oldSession = ""] = /session_id=(.+)/.exec(old[1]) ?? [];
  const replacing = await testbed.signIn(MEMBER_EMAIL, PERSON_PASSWORD, next(), [old]);
  const sessions = [...responses, replacing].map((response) => sessionOf(response) ?? "");
  const me = async (value: string) => (await testbed.as(cookie(value)).get("/api/auth/me")).status;
  const plantedStatuses = await Promise.all(planted.map(me));
  const replaced = await me(old[1]);
  return {
    claim:
      "a session planted before the sign-in is never adopted: every sign-in creates a new session and ends the replaced one",
    held:
      sessions.every((session) => /^[\w-]{43}$/.test(session) && session !== PLANTED && session !== oldSession) &&
      new Set(sessions).size === sessions.length &&
      plantedStatuses.every((status) => status === 401) &&
      replaced === 401,
    figure: `${new Set(sessions).size} sessions of ${sessions.length} sign-ins with a planted cookie; the planted ones return ${[...new Set(plantedStatuses)].join(", ")}, the replaced one ${replaced}`,
  };
}

/** Tests every way to end a session, each on a separate working session. */
async function testSessionEnds(testbed: Testbed, people: People): Promise<Finding> {
  const next = sources();
  const open = () => testbed.asMember(next());
  const status = async (session: Caller) => (await session.get("/api/auth/me")).status;
  const member = async (fields: Json) => dataOf(await changeMember(people, fields));
  const path = `users/${people.memberId}`;
  const read = async () => dataOf(await people.byKey.get(path));
  const restore = async (at: string) => dataOf(await people.byKey.post(`${path}/restore`, { at }));
  const endings: Record<string, (session: Caller) => Promise<unknown>> = {
    "sign-out": (session) => session.post("/api/auth/logout"),
    "a password changed elsewhere": async () => {
      const body = { current_password: PERSON_PASSWORD, new_password: PERSON_PASSWORD };
      return dataOf(await testbed.send("PUT", "/api/auth/password", body, [(await open()).header], next()));
    },
    "a password set by an administrator": () => member({ password: PERSON_PASSWORD }),
    "disabling and enabling again": async () => {
      await member({ is_enabled: false });
      await member({ is_enabled: true });
    },
    "disabling, and restoring the previous state": async () => {
      const { updated_at } = await read();
      await member({ is_enabled: false });
      await restore(updated_at);
    },
    "restoring a state in which the user was disabled, and enabling again": async () => {
      await member({ is_enabled: false });
      const { updated_at } = await read();
      await member({ is_enabled: true });
      lateSession = await open();
      await restore(updated_at);
      await member({ is_enabled: true });
    },
  };
  let lateSession: Caller | null = null;
  const observed: string[] = [];
  let held = true;
  for (const [name, end] of Object.entries(endings)) {
    lateSession = null;
    const session = await open();
    const before = await status(session);
    await end(session);
    const after = await status(lateSession ?? session);
    held &&= before === 200 && after === 401;
    observed.push(`${name}: ${before}, then ${after}`);
  }
  // A session that has ended must stay ended after a restart.
  const active = await open();
  const ended = await open();
  await ended.post("/api/auth/logout");
  await testbed.stop();
  await testbed.start();
  const [afterStart, endedAfterStart] = [await status(active), await status(ended)];
  return {
    claim: "sign-out, a new password and disabling end sessions permanently, regardless of later restores and restarts",
    held: held && afterStart === 200 && endedAfterStart === 401,
    figure: `${observed.join("; ")}; after a restart an active session continues (${afterStart}) and an ended one remains ended (${endedAfterStart})`,
  };
}

async function testCookies(testbed: Testbed): Promise<Finding> {
  const next = sources();
  const setCookie = async (...headers: Header[]) =>
    headerOf(await testbed.signIn(OWNER_EMAIL, OWNER_PASSWORD, next(), headers), "set-cookie") ?? "";
  const plain = await setCookie();
  const proxied = await setCookie(["X-Forwarded-Proto", "https"]);
  const spoofed = await setCookie(["X-Forwarded-Proto", "http"]);
  const hasAttribute = (cookie: string, attribute: string) =>
    cookie.toLowerCase().split("; ").slice(1).includes(attribute.toLowerCase());
  const hasBaseAttributes = (cookie: string) =>
    ["HttpOnly", "SameSite=Lax", "Path=/"].every((name) => hasAttribute(cookie, name)) && !/domain=/i.test(cookie);
  const session = await testbed.asOwner(next());
  const cleared = headerOf(await session.post("/api/auth/logout"), "set-cookie") ?? "";
  const stranger = testbed.as(["Cookie", "session_id=x"]);
  const otherResponses = await Promise.all(
    ["/api/auth/me", "/api/v1/hosts", "/docs", "/api/health", "/nothing"].map((path) => stranger.get(path)),
  );
  return {
    claim:
      "the session cookie is HttpOnly, SameSite=Lax, for every path and this host only, and Secure behind a TLS-terminating proxy",
    held:
      [plain, proxied, spoofed, cleared].every(hasBaseAttributes) &&
      hasAttribute(proxied, "Secure") &&
      !hasAttribute(plain, "Secure") &&
      !hasAttribute(spoofed, "Secure") &&
      /^session_id=;/.test(cleared) &&
      hasAttribute(cleared, "Max-Age=0") &&
      !otherResponses.some(({ headers }) => headers.has("set-cookie")),
    figure: `${plain.replace(/=[\w-]{43}/, "=…")}; behind a proxy ${proxied.replace(/=[\w-]{43}/, "=…")}; at sign-out ${cleared}`,
  };
}

/** Tests that the permissions of sessions and keys follow the user's role immediately, even when it is lowered. */
async function testPermissions(testbed: Testbed, people: People): Promise<Finding> {
  const next = sources();
  const session = await testbed.asMember(next());
  const created = dataOf(await session.post("auth/keys", keyBody(people, "of the member", "Member")));
  const key = created.api_key;
  const byKey = testbed.as(bearer(created.key));
  const create = async (caller: Caller) =>
    (await caller.post("hosts", { name: "by the member", network_id: people.networkId })).status;
  const change = async (fields: Json) => dataOf(await changeMember(people, fields));
  const observed: number[][] = [[await create(session), await create(byKey)]];
  await change({ role: "Viewer" });
  observed.push([await create(session), await create(byKey)]);
  const escalations = await Promise.all([
    session.put(`auth/keys/${key.id}`, keyBody(people, "of the member", "Owner")),
    session.post("auth/keys", keyBody(people, "more", "Owner")),
    session.put(`users/${people.memberId}`, { email: MEMBER_EMAIL, role: "Owner" }),
    byKey.post(`auth/keys/${key.id}/rotate`),
    session.post("auth/keys", keyBody({ ...people, memberId: people.disabledId }, "of another", "Viewer")),
  ]);
  await change({ role: "Member", network_ids: [] });
  const network = `networks/${people.networkId}`;
  const outOfReach = [(await session.get(network)).status, (await byKey.get(network)).status];
  await change({ network_ids: [people.networkId], is_enabled: false });
  const disabled = await byKey.get("/api/auth/me");
  await change({ is_enabled: true });
  const reopened = await testbed.asMember(next());
  const rotated = dataOf(await reopened.post(`auth/keys/${key.id}/rotate`, {}));
  const [old, newKeyStatus] = [await create(byKey), await create(testbed.as(bearer(rotated.key)))];
  const disabledSignIn = await testbed.signIn(DISABLED_EMAIL, PERSON_PASSWORD, next());
  return {
    claim:
      "sessions and keys have their user's current permissions: lowered roles, withdrawn networks, disabled users and rotated keys apply immediately, and users cannot raise their own",
    held:
      observed[0]?.every((status) => status === 200) === true &&
      observed[1]?.every((status) => status === 403) === true &&
      escalations.every(({ status }) => status === 403) &&
      outOfReach.every((status) => status === 404) &&
      jsonField(disabled, "code") === "auth_key_disabled" &&
      old === 401 &&
      newKeyStatus === 200 &&
      disabledSignIn.status === 401,
    figure: `as a Member ${observed[0]}, as a Viewer ${observed[1]}; raising their own permissions ${escalations.map(({ status }) => status)}; a network out of reach ${outOfReach}; the key of a disabled user ${disabled.status}; rotated: the old key ${old}, the new one ${newKeyStatus}`,
  };
}
