// Invisible and look-alike names, and the most common passwords.

import type { Finding, Proving } from "../part.ts";
import type { RawAnswer } from "./raw-client.ts";
import { dataOf, type Json, MEMBER_EMAIL, PERSON_PASSWORD, type People, populate, Stage } from "./stage.ts";

/**
 * Of every kind: fillers, letters without a glyph, format characters, variation selectors, tags, with blanks in
 * between.
 */
const INVISIBLE = [
  ..."\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200d\u2060\u2800\u3164\ufe0f\ufeff\uffa0",
].concat("\u{e0041}", "\u{e0100}", "\u{1d173}");

export async function proveLookAlikes(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "look-alikes");
  try {
    const people = await populate(stage);
    return [await names(stage, people), await passwords(stage, people)];
  } finally {
    await stage.close();
  }
}

async function names(stage: Stage, people: People): Promise<Finding> {
  const post = (path: string, body: Json) => stage.send("POST", `/api/v1/${path}`, body, [people.key]);
  const { organizationId: organization_id, networkId: network_id } = people;
  const host = dataOf(await post("hosts", { name: "server", network_id }));
  const kinds: ReadonlyArray<readonly [string, Json]> = [
    ["tags", { color: "Blue" }],
    ["networks", { organization_id, tags: [] }],
    ["markers", { organization_id }],
    ["discovery/schedules", { network_id, cron: "0 3 * * *", timezone: "UTC", kind: "sweep", is_enabled: false }],
    ["services", { host_id: host.id, service_definition: "http", bindings: [], tags: [] }],
  ];
  const wrong: string[] = [];
  let tried = 0;
  const expect = async (status: number, path: string, name: string, asked: Promise<RawAnswer>) => {
    tried += 1;
    const answer = await asked;
    if (answer.status !== status) wrong.push(`${path} ${JSON.stringify(name)}: ${answer.status}`);
    return answer;
  };
  for (const [path, fields] of kinds) {
    const called = (name: string) => post(path, { ...fields, name });
    await expect(200, path, "Core", called("Core"));
    for (const mark of INVISIBLE) {
      await expect(400, path, mark, called(` ${mark}`));
      for (const name of [`Core${mark}`, `${mark}Core`, `Co${mark}re`]) await expect(409, path, name, called(name));
      // The name with the mark first.
      const first = `Edge${INVISIBLE.indexOf(mark)}`;
      await expect(200, path, first, called(`${mark}${first}`));
      await expect(409, path, first, called(first));
    }
  }
  return {
    claim: "no invisible name is accepted, and no look-alike of another where names are unique",
    held: wrong.length === 0,
    figure: `${tried} names of ${kinds.length} kinds with ${INVISIBLE.length} characters${wrong.length === 0 ? "" : `; ${wrong.length} wrong: ${wrong.slice(0, 5).join("; ")}`}`,
  };
}

async function passwords(stage: Stage, people: People): Promise<Finding> {
  const email = "night.watch@acme.example";
  const weak = [
    " ".repeat(10),
    ...INVISIBLE.map((mark) => mark.repeat(10)),
    "1111111111",
    "1 1 1 1 1 1",
    email,
    email.toUpperCase(),
    "Night.Watch",
  ];
  const session = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD);
  const member = dataOf(await stage.send("GET", `/api/v1/users/${people.memberId}`, undefined, [people.key]));
  const renamed = { ...member, email };
  const taken: string[] = [];
  for (const password of weak) {
    const body = { email, password, role: "Viewer" };
    const change = { current_password: PERSON_PASSWORD, new_password: password.replace(/^night.*/i, MEMBER_EMAIL) };
    const answers = [
      await stage.send("POST", "/api/v1/users", body, [people.key]),
      await stage.send("PUT", `/api/v1/users/${people.memberId}`, { ...renamed, password }, [people.key]),
      await stage.send("PUT", "/api/auth/password", change, [session]),
    ];
    if (answers.some(({ status }) => status !== 400)) taken.push(JSON.stringify(password));
  }
  const { status } = await stage.signIn(MEMBER_EMAIL, PERSON_PASSWORD);
  return {
    claim:
      "no password is set that is blank, one repeated character or the user's own address: not for a new user, not by an Admin, not by oneself",
    held: taken.length === 0 && status === 200,
    figure: `${weak.length} passwords in 3 ways, ${taken.length} taken${taken.length === 0 ? "" : `: ${taken.slice(0, 5).join(", ")}`}`,
  };
}
