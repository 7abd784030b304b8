// Rejection of invisible names, look-alike names, and the weakest passwords.

import type { Finding, ProofContext } from "../part.ts";
import type { RawResponse } from "./raw-client.ts";
import { changeMember, dataOf, MEMBER_EMAIL, PERSON_PASSWORD, type People, populate, Testbed } from "./testbed.ts";

/** Invisible characters: fillers, letters without a glyph, format characters, variation selectors, tags. */
const INVISIBLE = [
  ..."\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200d\u2060\u2800\u3164\ufe0f\ufeff\uffa0",
].concat("\u{e0041}", "\u{e0100}", "\u{1d173}");

export async function proveLookAlikes(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "look-alikes");
  try {
    const people = await populate(testbed);
    return [await testNames(people), await testPasswords(testbed, people)];
  } finally {
    await testbed.close();
  }
}

async function testNames({ organizationId: organization_id, networkId: network_id, byKey }: People): Promise<Finding> {
  const host = dataOf(await byKey.post("hosts", { name: "server", network_id }));
  const kinds: ReadonlyArray<readonly [string, object]> = [
    ["tags", { color: "Blue" }],
    ["networks", { organization_id, tags: [] }],
    ["markers", { organization_id }],
    ["discovery/schedules", { network_id, cron: "0 3 * * *", timezone: "UTC", kind: "sweep", is_enabled: false }],
    ["services", { host_id: host.id, service_definition: "http", bindings: [], tags: [] }],
  ];
  const wrong: string[] = [];
  let count = 0;
  const expect = async (status: number, path: string, name: string, pending: Promise<RawResponse>) => {
    count += 1;
    const response = await pending;
    if (response.status !== status) wrong.push(`${path} ${JSON.stringify(name)}: ${response.status}`);
    return response;
  };
  for (const [path, fields] of kinds) {
    const create = (name: string) => byKey.post(path, { ...fields, name });
    await expect(200, path, "Core", create("Core"));
    for (const character of INVISIBLE) {
      await expect(400, path, character, create(` ${character}`));
      for (const name of [`Core${character}`, `${character}Core`, `Co${character}re`])
        await expect(409, path, name, create(name));
      // The name with the character is created first.
      const first = `Edge${INVISIBLE.indexOf(character)}`;
      await expect(200, path, first, create(`${character}${first}`));
      await expect(409, path, first, create(first));
    }
  }
  return {
    claim: "no invisible name is accepted, and no look-alike of an existing name where names are unique",
    held: wrong.length === 0,
    figure: `${count} names of ${kinds.length} kinds with ${INVISIBLE.length} characters${wrong.length === 0 ? "" : `; ${wrong.length} wrong: ${wrong.slice(0, 5).join("; ")}`}`,
  };
}

async function testPasswords(testbed: Testbed, people: People): Promise<Finding> {
  const email = "night.watch@acme.example";
  const repeated = [" ", ...INVISIBLE, "1"].map((character) => character.repeat(10));
  const weak = [...repeated, "1 1 1 1 1 1", email, email.toUpperCase(), "Night.Watch"];
  const session = await testbed.asMember();
  const accepted: string[] = [];
  for (const password of weak) {
    const body = { email, password, role: "Viewer" };
    const change = { current_password: PERSON_PASSWORD, new_password: password.replace(/^night.*/i, MEMBER_EMAIL) };
    const responses = [
      await people.byKey.post("users", body),
      await changeMember(people, { email, password }),
      await session.put("/api/auth/password", change),
    ];
    if (responses.some(({ status }) => status !== 400)) accepted.push(JSON.stringify(password));
  }
  const { status } = await testbed.signIn(MEMBER_EMAIL, PERSON_PASSWORD);
  return {
    claim:
      "a password that is blank, one repeated character or the user's own address is refused for a new user, from an Admin and from the user",
    held: accepted.length === 0 && status === 200,
    figure: `${weak.length} passwords in 3 ways, ${accepted.length} accepted${accepted.length === 0 ? "" : `: ${accepted.slice(0, 5).join(", ")}`}`,
  };
}
