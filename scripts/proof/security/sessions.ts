// Attacks on sessions: theft, fixation, incomplete ends, cookie attributes, changed rights.

import type { Finding, Proving } from "../part.ts";
import { headerOf, memberOf, type RawAnswer, sessionOf } from "./raw-client.ts";
import {
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
  Stage,
  sources,
} from "./stage.ts";

/** Well-formed, but unknown: planted by an attacker. */
const PLANTED = "A".repeat(43);

export async function proveSessions(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "sessions");
  try {
    const people = await populate(stage);
    return [
      ...(await fixation(stage)),
      await ends(stage, people),
      ...(await cookies(stage)),
      await rights(stage, people),
    ];
  } finally {
    await stage.close();
  }
}

async function fixation(stage: Stage): Promise<Finding[]> {
  const next = sources();
  const cookie = (value: string): [string, string] => ["Cookie", value];
  const old = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, next());
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
  const answers: RawAnswer[] = [];
  for (const value of planted) answers.push(await stage.signIn(MEMBER_EMAIL, PERSON_PASSWORD, next(), [cookie(value)]));
  const [, oldSession = ""] = /session_id=(.+)/.exec(old[1]) ?? [];
  const replacing = await stage.signIn(MEMBER_EMAIL, PERSON_PASSWORD, next(), [old]);
  const sessions = [...answers, replacing].map((answer) => sessionOf(answer) ?? "");
  const me = async (value: string) => (await stage.send("GET", "/api/auth/me", undefined, [cookie(value)])).status;
  const stillPlanted = await Promise.all(planted.map(me));
  const replaced = await me(old[1]);
  return [
    {
      claim:
        "a session planted before the sign-in is never adopted: every sign-in creates another one, and ends the replaced one",
      held:
        sessions.every((session) => /^[\w-]{43}$/.test(session) && session !== PLANTED && session !== oldSession) &&
        new Set(sessions).size === sessions.length &&
        stillPlanted.every((status) => status === 401) &&
        replaced === 401,
      figure: `${new Set(sessions).size} sessions of ${sessions.length} sign-ins with a planted cookie; the planted ones answer ${[...new Set(stillPlanted)].join(", ")}, the replaced one ${replaced}`,
    },
  ];
}

/** Every end of a session, each on a separate session that worked before. */
async function ends(stage: Stage, people: People): Promise<Finding> {
  const next = sources();
  const open = () => stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, next());
  const status = async (session: readonly [string, string]) =>
    (await stage.send("GET", "/api/auth/me", undefined, [session])).status;
  const member = async (fields: Json) => dataOf(await changeMember(stage, people, fields));
  const path = `/api/v1/users/${people.memberId}`;
  const read = async () => dataOf(await stage.send("GET", path, undefined, [people.key]));
  const restore = async (at: string) => dataOf(await stage.send("POST", `${path}/restore`, { at }, [people.key]));
  const ways: Record<string, (session: [string, string]) => Promise<unknown>> = {
    "sign-out": (session) => stage.send("POST", "/api/auth/logout", undefined, [session]),
    "a password changed elsewhere": async () =>
      dataOf(
        await stage.send(
          "PUT",
          "/api/auth/password",
          { current_password: PERSON_PASSWORD, new_password: PERSON_PASSWORD },
          [await open()],
          next(),
        ),
      ),
    "a password set by an administrator": () => member({ password: PERSON_PASSWORD }),
    "disabling and enabling again": async () => {
      await member({ is_enabled: false });
      await member({ is_enabled: true });
    },
    "disabling, and restoring what was before": async () => {
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
  let lateSession: [string, string] | null = null;
  const seen: string[] = [];
  let held = true;
  for (const [name, end] of Object.entries(ways)) {
    lateSession = null;
    const session = await open();
    const before = await status(session);
    await end(session);
    const after = await status(lateSession ?? session);
    held &&= before === 200 && after === 401;
    seen.push(`${name}: ${before}, then ${after}`);
  }
  // An ended session stays ended after a restart.
  const kept = await open();
  const ended = await open();
  await stage.send("POST", "/api/auth/logout", undefined, [ended]);
  await stage.stop();
  await stage.start();
  const [afterStart, endedAfterStart] = [await status(kept), await status(ended)];
  return {
    claim:
      "sign-out, another password and disabling end sessions permanently, whatever is restored or restarted afterwards",
    held: held && afterStart === 200 && endedAfterStart === 401,
    figure: `${seen.join("; ")}; after a start a session goes on (${afterStart}) and an ended one stays ended (${endedAfterStart})`,
  };
}

async function cookies(stage: Stage): Promise<Finding[]> {
  const next = sources();
  const setCookie = async (headers: [string, string][]) =>
    headerOf(await stage.signIn(OWNER_EMAIL, OWNER_PASSWORD, next(), headers), "set-cookie") ?? "";
  const [plain, proxied, lied] = [
    await setCookie([]),
    await setCookie([["X-Forwarded-Proto", "https"]]),
    await setCookie([["X-Forwarded-Proto", "http"]]),
  ];
  const has = (cookie: string, attribute: string) =>
    cookie
      .split("; ")
      .slice(1)
      .some((each) => each.toLowerCase() === attribute.toLowerCase());
  const always = (cookie: string) =>
    has(cookie, "HttpOnly") && has(cookie, "SameSite=Lax") && has(cookie, "Path=/") && !/domain=/i.test(cookie);
  const session = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD, next());
  const out = headerOf(await stage.send("POST", "/api/auth/logout", undefined, [session]), "set-cookie") ?? "";
  const elsewhere = await Promise.all(
    ["/api/auth/me", "/api/v1/hosts", "/docs", "/api/health", "/nothing"].map(async (path) =>
      (await stage.send("GET", path, undefined, [["Cookie", "session_id=x"]])).headers.has("set-cookie"),
    ),
  );
  return [
    {
      claim:
        "the session cookie is HttpOnly, SameSite=Lax, for every path and this host only, and Secure behind a TLS-terminating proxy",
      held:
        [plain, proxied, lied, out].every(always) &&
        has(proxied, "Secure") &&
        !has(plain, "Secure") &&
        !has(lied, "Secure") &&
        /^session_id=;/.test(out) &&
        has(out, "Max-Age=0") &&
        !elsewhere.includes(true),
      figure: `${plain.replace(/=[\w-]{43}/, "=…")}; behind a proxy ${proxied.replace(/=[\w-]{43}/, "=…")}; at sign-out ${out}`,
    },
  ];
}

/** A session's rights follow the user's role at once, including demotions. */
async function rights(stage: Stage, people: People): Promise<Finding> {
  const next = sources();
  const session = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, next());
  const made = dataOf(
    await stage.send("POST", "/api/v1/auth/keys", keyBody(people, "of the member", "Member"), [session]),
  );
  const key = made.api_key;
  const bearer: [string, string] = ["Authorization", `Bearer ${made.key}`];
  const create = async (by: readonly [string, string]) =>
    (await stage.send("POST", "/api/v1/hosts", { name: "by the member", network_id: people.networkId }, [by])).status;
  const change = async (fields: Json) => dataOf(await changeMember(stage, people, fields));
  const seen: number[][] = [[await create(session), await create(bearer)]];
  await change({ role: "Viewer" });
  seen.push([await create(session), await create(bearer)]);
  const escalations = await Promise.all([
    stage.send("PUT", `/api/v1/auth/keys/${key.id}`, keyBody(people, "of the member", "Owner"), [session]),
    stage.send("POST", "/api/v1/auth/keys", keyBody(people, "more", "Owner"), [session]),
    stage.send("PUT", `/api/v1/users/${people.memberId}`, { email: MEMBER_EMAIL, role: "Owner" }, [session]),
    stage.send("POST", `/api/v1/auth/keys/${key.id}/rotate`, undefined, [bearer]),
    stage.send(
      "POST",
      "/api/v1/auth/keys",
      { ...keyBody(people, "of another", "Viewer"), user_id: people.disabledId },
      [session],
    ),
  ]);
  await change({ role: "Member", network_ids: [] });
  const outOfReach = [
    (await stage.send("GET", `/api/v1/networks/${people.networkId}`, undefined, [session])).status,
    (await stage.send("GET", `/api/v1/networks/${people.networkId}`, undefined, [bearer])).status,
  ];
  await change({ network_ids: [people.networkId], is_enabled: false });
  const disabled = await stage.send("GET", "/api/auth/me", undefined, [bearer]);
  await change({ is_enabled: true });
  const rotated = dataOf(
    await stage.send("POST", `/api/v1/auth/keys/${key.id}/rotate`, {}, [
      await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, next()),
    ]),
  );
  const [old, anew] = [await create(bearer), await create(["Authorization", `Bearer ${rotated.key}`])];
  const disabledSignIn = await stage.signIn(DISABLED_EMAIL, PERSON_PASSWORD, next());
  return {
    claim:
      "sessions and keys have their user's present rights: lowered roles, withdrawn networks, disabled users and rotated keys apply immediately, and users cannot raise their own",
    held:
      seen[0]?.every((status) => status === 200) === true &&
      seen[1]?.every((status) => status === 403) === true &&
      escalations.every(({ status }) => status === 403) &&
      outOfReach.every((status) => status === 404) &&
      memberOf(disabled, "code") === "auth_key_disabled" &&
      old === 401 &&
      anew === 200 &&
      disabledSignIn.status === 401,
    figure: `as a Member ${seen[0]}, as a Viewer ${seen[1]}; raising oneself ${escalations.map(({ status }) => status)}; a network no longer reached ${outOfReach}; the key of a disabled user ${disabled.status}; rotated: the old key ${old}, the new one ${anew}`,
  };
}
