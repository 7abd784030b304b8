// Guesses by a caller who may read and write: secrets written until the answer differs, right values in every field
// that takes one, and filters on records out of reach.

import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Finding, Proving } from "../part.ts";
import type { RawAnswer } from "./raw-client.ts";
import {
  dataOf,
  type Json,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  type People,
  populate,
  Stage,
} from "./stage.ts";

const GUESSES: Readonly<Record<Proving["form"], number>> = { short: 150, long: 3_000 };
/** Concurrent requests. */
const AT_ONCE = 8;
const MASK = "********";
/** Of equal length. */
const [RIGHT, WRONG] = [PERSON_PASSWORD, [...PERSON_PASSWORD].reverse().join("")] as const;

/** Operations that verify a secret with a limit on attempts, which the flood chapter tests. */
const SIGN_IN = /^\/api\/auth\/|\/backups\//;

type Header = readonly [string, string];

interface Scene {
  readonly stage: Stage;
  readonly people: People;
  readonly owner: Header;
  readonly far: string;
  readonly callers: Readonly<Record<string, Header>>;
}

export async function proveGuesses(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "guesses");
  try {
    const people = await populate(stage);
    const scene = await furnished(stage, people);
    return [await written(scene), await everywhere(scene), await filtered(scene)];
  } finally {
    await stage.close();
  }
}

/** Creates a second network with most kinds of records, and keys limited to the first one. */
async function furnished(stage: Stage, people: People): Promise<Scene> {
  const owner = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
  const post = async (path: string, body: Json) => dataOf(await stage.send("POST", `/api/v1/${path}`, body, [owner]));
  const { organizationId, networkId } = people;
  const { id: userId } = dataOf(await stage.send("GET", "/api/auth/me", undefined, [owner]));
  const far = (await post("networks", { name: "far" })).id;
  for (const [place, network_id] of [networkId, far].entries()) {
    await post("subnets", { network_id, cidr: `10.${place}.0.0/24` });
    const host = await post("hosts", {
      network_id,
      name: `host ${place}`,
      ip_addresses: [{ ip_address: `10.${place}.0.1` }],
      ports: [{ number: 443, protocol: "Tcp" }],
    });
    await post("if-entries", { host_id: host.id, if_index: 1, if_descr: "eth0" });
    await post("credentials", {
      ...credentialOf(people, [networkId, far]),
      host_assignments: [{ host_id: host.id }],
    });
  }
  for (const [place, network_ids] of [[far], [networkId, far]].entries())
    await post("users", { email: `far-${place}@acme.example`, role: "Member", password: PERSON_PASSWORD, network_ids });
  const keyOf = async (permissions: string): Promise<Header> => {
    const body = { organization_id: organizationId, user_id: userId, name: permissions, permissions, tags: [] };
    return ["Authorization", `Bearer ${(await post("auth/keys", { ...body, network_ids: [networkId] })).key}`];
  };
  return {
    stage,
    people,
    owner,
    far,
    callers: {
      "an Owner": owner,
      "an Owner's key for one network": await keyOf("Owner"),
      "an Admin's key for one network": await keyOf("Admin"),
      "a Member": await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD),
    },
  };
}

const inline = (value: string) => ({ mode: "Inline", value });

function credentialOf({ organizationId }: People, assigned_network_ids: readonly string[], type?: Json): Json {
  return {
    organization_id: organizationId,
    name: "Switches",
    credential_type: type ?? { type: "SnmpV2c", community: inline(RIGHT) },
    assigned_network_ids,
    host_assignments: [],
    tags: [],
  };
}

/** Headers with values unique to a record or a request. */
const OF_EACH: readonly string[] = ["etag", "x-request-id", "x-transaction-sequence", "date"];

/** Comparable part of an answer: values unique to a request are reduced to their presence. */
function shapeOf({ status, headers, text }: RawAnswer): string {
  const told = [...headers].map(([name, values]) => (OF_EACH.includes(name) ? name : `${name}: ${values.join()}`));
  return `${status}, ${text.length} characters, ${told.sort().join("; ")}`;
}

/** Guesses in sequence, including the right one. */
async function written({ stage, people, owner, far, callers }: Scene): Promise<Finding> {
  const count = GUESSES[stage.proving.form];
  const random = seededRandom(stage.proving.seed);
  const by = callers["an Admin's key for one network"] as Header;
  const head = async () => dataOf(await stage.send("GET", "/api/v1/ledger", undefined, [owner])).sequence as number;
  const shapes = new Set<string>();
  let refused = 0;
  let changed = 0;
  let kept = 0;
  const placements = [[], [far], [people.networkId, far]];
  for (const placement of placements) {
    const body = credentialOf(people, placement);
    const { id } = dataOf(await stage.send("POST", "/api/v1/credentials", body, [owner]));
    const path = `/api/v1/credentials/${id}`;
    const seen = dataOf(await stage.send("GET", path, undefined, [by]));
    const before = await head();
    const right = random.integer(count);
    const guesses = Array.from({ length: count }, (_, place) =>
      place === right ? RIGHT : Array.from(RIGHT, () => String.fromCharCode(97 + random.integer(26))).join(""),
    );
    for (let place = 0; place < count; place += AT_ONCE) {
      const answers = await Promise.all(
        guesses.slice(place, place + AT_ONCE).map((guess) => {
          const credential_type = { type: "SnmpV2c", community: inline(guess) };
          return stage.send("PUT", path, { ...seen, credential_type }, [by]);
        }),
      );
      for (const answer of answers) {
        if (answer.status === 403) refused += 1;
        shapes.add(shapeOf(answer));
      }
    }
    if ((await stage.send("PUT", path, seen, [by])).status === 200) kept += 1;
    changed += (await head()) - before;
  }
  const all = placements.length * count;
  return {
    claim:
      "a caller who may not change a credential gets one answer to every secret except the mask, including the correct one, and writes nothing",
    held: shapes.size === 1 && refused === all && changed === 0 && kept === placements.length,
    figure: `${refused} of ${all} secrets refused, ${shapes.size} different answers, ${changed} transactions; sent back as read: ${kept} of ${placements.length} accepted`,
  };
}

interface TakenSecret {
  readonly method: string;
  /** Below /api/v1. */
  readonly path: string;
  readonly field: readonly string[];
}

/** Every body field that the appliance's own document marks as secret. */
async function takenSecrets(stage: Stage): Promise<TakenSecret[]> {
  const document = JSON.parse((await stage.send("GET", "/api/openapi.json", undefined)).text) as Json;
  const found = new Map<string, TakenSecret>();
  const walk = (schema: Json, at: Omit<TakenSecret, "field">, field: readonly string[]): void => {
    if (typeof schema.$ref === "string") {
      walk(document.components.schemas[schema.$ref.split("/").at(-1) as string], at, field);
      return;
    }
    if (schema.writeOnly === true || schema.format === "password")
      found.set(`${at.method} ${at.path} ${field.join(".")}`, { ...at, field });
    for (const arm of schema.anyOf ?? []) walk(arm, at, field);
    if (schema.items !== undefined) walk(schema.items, at, field);
    for (const [name, inner] of Object.entries(schema.properties ?? {})) walk(inner as Json, at, [...field, name]);
  };
  for (const [path, operations] of Object.entries(document.paths as Json))
    for (const [method, operation] of Object.entries(operations as Json)) {
      const schema = operation.requestBody?.content?.["application/json"]?.schema;
      if (schema !== undefined && !SIGN_IN.test(path)) walk(schema, { method: method.toUpperCase(), path }, []);
    }
  return [...found.values()];
}

const V3 = {
  type: "SnmpV3",
  security_name: "monitor",
  auth_protocol: "Sha256",
  auth_password: inline(RIGHT),
  priv_protocol: "Aes128",
  priv_password: inline(RIGHT),
};

async function everywhere(scene: Scene): Promise<Finding> {
  const { stage, people, owner, far, callers } = scene;
  const taken = await takenSecrets(stage);
  let users = 0;
  const records: Readonly<Record<string, (field: readonly string[]) => Promise<readonly Json[]>>> = {
    "/api/v1/credentials": ([, field]) =>
      Promise.all(
        [[], [people.networkId], [far]].map(async (placement) =>
          dataOf(
            await stage.send(
              "POST",
              "/api/v1/credentials",
              credentialOf(people, placement, field === "community" ? undefined : V3),
              [owner],
            ),
          ),
        ),
      ),
    "/api/v1/users": async () => {
      users += 1;
      const body = { email: `user-${100 + users}@acme.example`, role: "Member", password: RIGHT, network_ids: [far] };
      return [dataOf(await stage.send("POST", "/api/v1/users", body, [owner]))];
    },
  };
  const unknown: string[] = [];
  const differing: string[] = [];
  let pairs = 0;
  for (const { method, path, field } of taken) {
    const list = path.replace("/{id}", "");
    const make = records[list];
    if (make === undefined) {
      unknown.push(`${method} ${path} ${field.join(".")}`);
      continue;
    }
    for (const [caller, by] of Object.entries(callers)) {
      const [ones, others] = [await make(field), await make(field)];
      const send = (record: Json, guess: string) => {
        const body = structuredClone(record);
        // A new record is sent whole with an existing id: it is refused in any case.
        if (method === "POST") {
          for (const secret of Object.values(body.credential_type ?? {}) as Json[])
            if (secret?.value === MASK) secret.value = RIGHT;
          if (body.email !== undefined) body.password = RIGHT;
        }
        field.slice(0, -1).reduce((place, name) => place[name], body)[field.at(-1) as string] = guess;
        return stage.send(method, path.replace("{id}", record.id), body, [by]);
      };
      for (const [place, one] of ones.entries()) {
        const answers = [await send(one, RIGHT), await send(others[place] as Json, WRONG)] as const;
        pairs += 1;
        if (shapeOf(answers[0]) !== shapeOf(answers[1]))
          differing.push(`${method} ${path} ${field.join(".")} by ${caller}`);
      }
    }
  }
  return {
    claim: "no operation that takes a secret distinguishes the correct one from a wrong one, for any caller",
    held: unknown.length === 0 && differing.length === 0 && pairs > 20,
    figure: `${taken.length} places, ${pairs} pairs of answers, ${differing.length} that differ${[...differing, ...unknown.map((each) => `untried: ${each}`)].map((each) => `; ${each}`).join("")}`,
  };
}

/** Values at a path of a document, through lists. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (value === null || value === undefined) return [];
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as Json)[name], rest);
}

/** Filters by every id field, as listed by the appliance, for a caller limited to one network. */
async function filtered({ stage, owner, people, callers }: Scene): Promise<Finding> {
  const document = JSON.parse((await stage.send("GET", "/api/openapi.json", undefined)).text) as Json;
  const [parameter] = document.paths["/api/v1/fields/{kind}"].get.parameters as Json[];
  const kinds = (parameter?.schema.enum ?? []) as string[];
  const hosts = dataOf(await stage.send("GET", "/api/v1/hosts", undefined, [owner])) as unknown as Json[];
  const networks = dataOf(await stage.send("GET", "/api/v1/networks", undefined, [owner])) as unknown as Json[];
  const beyond = [
    ...networks.filter(({ id }) => id !== people.networkId),
    ...hosts.filter(({ network_id }) => network_id !== people.networkId),
  ].map(({ id }) => id as string);
  const wrong: string[] = [];
  let asked = 0;
  const { at } = dataOf(await stage.send("GET", "/api/v1/ledger", undefined, [owner]));
  /** Rows of a list, or of a diff; null for a refusal. */
  const rows = async (by: Header, path: string): Promise<Json[] | null> => {
    const answer = await stage.send("GET", path, undefined, [by]);
    if (answer.status !== 200) return null;
    const data: unknown = dataOf(answer);
    return (
      Array.isArray(data)
        ? data
        : Object.values(data as Json)
            .filter(Array.isArray)
            .flat()
    ) as Json[];
  };
  for (const kind of kinds) {
    const { path: listed, fields } = dataOf(await stage.send("GET", `/api/v1/fields/${kind}`, undefined, [owner]));
    if (listed.includes("{")) continue;
    const list = listed.startsWith("/") ? listed : `/api/v1/${listed}`;
    const names = (fields as Json[]).flatMap(({ name, type }) => (type === "uuid" && name !== "id" ? [name] : []));
    for (const [caller, by] of Object.entries(callers)) {
      if (caller === "an Owner") continue;
      const shown = await rows(by, `${list}?limit=0`);
      if (shown === null) continue;
      for (const name of names as string[]) {
        const find = (filter: string) => rows(by, `${list}?limit=0&filter=${encodeURIComponent(filter)}`);
        const having = (path: readonly string[]) => shown.filter((row) => valuesAt(row, path).length > 0).length;
        const path = name.split(".");
        const found = await find(`${name}:*`);
        const named = beyond.map((id) => `${name} = "${id}"`).join(" OR ");
        const answers = [
          await find(named),
          await find(`was(${at}, ${named})`),
          await find(`ever(${named}, "-1d")`),
          await rows(by, `/api/v1/diff?from=-1d&types=${kind}&filter=${encodeURIComponent(named)}`),
        ];
        asked += 2 + answers.length;
        // May match nested fields that are not shown, but only where the enclosing field is.
        if (found !== null && (found.length < having(path) || found.length > having(path.slice(0, 1))))
          wrong.push(`${kind}.${name}:* by ${caller}`);
        if (answers.some((each) => each !== null && each.length > 0)) wrong.push(`${kind}.${name} = … by ${caller}`);
      }
    }
  }
  return {
    claim: "a filter by a field of ids matches the values shown to its caller, and nothing by values out of reach",
    held: wrong.length === 0 && asked > 100,
    figure: `${asked} filters over ${kinds.length} kinds, ${wrong.length} that told more${wrong.map((each) => `; ${each}`).join("")}`,
  };
}
