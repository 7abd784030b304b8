// Guesses by a caller who may read and write: secrets written until a response differs, correct values in every secret
// field, and filters for records the caller cannot access.

import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import type { Finding, ProofContext } from "../part.ts";
import type { RawResponse } from "./raw-client.ts";
import { bearer, type Caller, dataOf, type Json, PERSON_PASSWORD, type People, populate, Testbed } from "./testbed.ts";

const GUESSES: Readonly<Record<ProofContext["form"], number>> = { short: 150, long: 3_000 };
/** Concurrent requests. */
const CONCURRENCY = 8;
const MASK = "********";
/** Passwords of equal length. */
const [RIGHT, WRONG] = [PERSON_PASSWORD, [...PERSON_PASSWORD].reverse().join("")] as const;

/** Operations that verify a secret with a limit on attempts; flood.ts tests them. */
const SIGN_IN = /^\/api\/auth\/|\/backups\//;

interface Fixture {
  readonly testbed: Testbed;
  readonly people: People;
  readonly owner: Caller;
  readonly otherNetworkId: string;
  readonly callers: Readonly<Record<string, Caller>>;
}

export async function proveGuesses(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "guesses");
  try {
    const people = await populate(testbed);
    const fixture = await createFixture(testbed, people);
    return [await guessInSequence(fixture), await guessInEveryField(fixture), await guessByFilters(fixture)];
  } finally {
    await testbed.close();
  }
}

/** Creates a second network with most kinds of records, and keys limited to the first one. */
async function createFixture(testbed: Testbed, people: People): Promise<Fixture> {
  const owner = await testbed.asOwner();
  const post = async (path: string, body: Json) => dataOf(await owner.post(path, body));
  const { organizationId, networkId } = people;
  const { id: userId } = dataOf(await owner.get("/api/auth/me"));
  const otherNetworkId = (await post("networks", { name: "far" })).id;
  for (const [index, network_id] of [networkId, otherNetworkId].entries()) {
    await post("subnets", { network_id, cidr: `10.${index}.0.0/24` });
    const host = await post("hosts", {
      network_id,
      name: `host ${index}`,
      ip_addresses: [{ ip_address: `10.${index}.0.1` }],
      ports: [{ number: 443, protocol: "Tcp" }],
    });
    await post("if-entries", { host_id: host.id, if_index: 1, if_descr: "eth0" });
    await post("credentials", {
      ...credentialOf(people, [networkId, otherNetworkId]),
      host_assignments: [{ host_id: host.id }],
    });
  }
  for (const [index, network_ids] of [[otherNetworkId], [networkId, otherNetworkId]].entries())
    await post("users", { email: `far-${index}@acme.example`, role: "Member", password: PERSON_PASSWORD, network_ids });
  const byKey = async (permissions: string) => {
    const body = { organization_id: organizationId, user_id: userId, name: permissions, permissions, tags: [] };
    return testbed.as(bearer((await post("auth/keys", { ...body, network_ids: [networkId] })).key));
  };
  return {
    testbed,
    people,
    owner,
    otherNetworkId,
    callers: {
      "an Owner": owner,
      "an Owner's key for one network": await byKey("Owner"),
      "an Admin's key for one network": await byKey("Admin"),
      "a Member": await testbed.asMember(),
    },
  };
}

const inline = (value: string) => ({ mode: "Inline", value });

function credentialOf({ organizationId }: People, networkIds: readonly string[]): Json {
  return communityCredential(organizationId, "Switches", RIGHT, networkIds);
}

/** Headers with values unique to a record or a request. */
const UNIQUE_HEADERS: readonly string[] = ["etag", "x-request-id", "x-transaction-sequence", "date"];

/** Describes the comparable part of a response: of values unique to a request, only their presence. */
function shapeOf({ status, headers, text }: RawResponse): string {
  const parts = [...headers].map(([name, values]) =>
    UNIQUE_HEADERS.includes(name) ? name : `${name}: ${values.join()}`,
  );
  return `${status}, ${text.length} characters, ${parts.sort().join("; ")}`;
}

/** Sends guesses in sequence, including the right one. */
async function guessInSequence({ testbed, people, owner, otherNetworkId, callers }: Fixture): Promise<Finding> {
  const count = GUESSES[testbed.context.form];
  const random = seededRandom(testbed.context.seed);
  const admin = callers["an Admin's key for one network"] as Caller;
  const head = async () => dataOf(await owner.get("ledger")).sequence as number;
  const shapes = new Set<string>();
  let refused = 0;
  let changed = 0;
  let accepted = 0;
  const placements = [[], [otherNetworkId], [people.networkId, otherNetworkId]];
  for (const placement of placements) {
    const { id } = dataOf(await owner.post("credentials", credentialOf(people, placement)));
    const path = `credentials/${id}`;
    const seen = dataOf(await admin.get(path));
    const before = await head();
    const right = random.integer(count);
    const guesses = Array.from({ length: count }, (_, index) =>
      index === right ? RIGHT : Array.from(RIGHT, () => String.fromCharCode(97 + random.integer(26))).join(""),
    );
    for (let index = 0; index < count; index += CONCURRENCY) {
      const responses = await Promise.all(
        guesses.slice(index, index + CONCURRENCY).map((guess) => {
          const credential_type = { type: "SnmpV2c", community: inline(guess) };
          return admin.put(path, { ...seen, credential_type });
        }),
      );
      for (const response of responses) {
        if (response.status === 403) refused += 1;
        shapes.add(shapeOf(response));
      }
    }
    if ((await admin.put(path, seen)).status === 200) accepted += 1;
    changed += (await head()) - before;
  }
  const total = placements.length * count;
  return {
    claim:
      "a caller who may not change a credential gets the same response to every secret except the mask, including the correct one, and writes nothing",
    held: shapes.size === 1 && refused === total && changed === 0 && accepted === placements.length,
    figure: `${refused} of ${total} secrets refused, ${shapes.size} different responses, ${changed} transactions; sent back as read: ${accepted} of ${placements.length} accepted`,
  };
}

interface SecretField {
  readonly method: string;
  /** Path of the operation, as in the document. */
  readonly path: string;
  readonly field: readonly string[];
}

/** Finds every body field that the OpenAPI document marks as secret. */
async function findSecretFields(testbed: Testbed): Promise<SecretField[]> {
  const document = JSON.parse((await testbed.send("GET", "/api/openapi.json", undefined)).text) as Json;
  const found = new Map<string, SecretField>();
  const walk = (schema: Json, operation: Omit<SecretField, "field">, field: readonly string[]): void => {
    if (typeof schema.$ref === "string") {
      walk(document.components.schemas[schema.$ref.split("/").at(-1) as string], operation, field);
      return;
    }
    if (schema.writeOnly === true || schema.format === "password")
      found.set(`${operation.method} ${operation.path} ${field.join(".")}`, { ...operation, field });
    for (const variant of schema.anyOf ?? []) walk(variant, operation, field);
    if (schema.items !== undefined) walk(schema.items, operation, field);
    for (const [name, inner] of Object.entries(schema.properties ?? {}))
      walk(inner as Json, operation, [...field, name]);
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

async function guessInEveryField(fixture: Fixture): Promise<Finding> {
  const { testbed, people, owner, otherNetworkId, callers } = fixture;
  const secretFields = await findSecretFields(testbed);
  let users = 0;
  const records: Readonly<Record<string, (field: readonly string[]) => Promise<readonly Json[]>>> = {
    "/api/v1/credentials": ([, field]) =>
      Promise.all(
        [[], [people.networkId], [otherNetworkId]].map(async (placement) => {
          const type = field === "community" ? {} : { credential_type: V3 };
          const body = { ...credentialOf(people, placement), ...type };
          return dataOf(await owner.post("credentials", body));
        }),
      ),
    "/api/v1/users": async () => {
      users += 1;
      const email = `user-${100 + users}@acme.example`;
      const body = { email, role: "Member", password: RIGHT, network_ids: [otherNetworkId] };
      return [dataOf(await owner.post("users", body))];
    },
  };
  const unknown: string[] = [];
  const differing: string[] = [];
  let pairs = 0;
  for (const { method, path, field } of secretFields) {
    const list = path.replace("/{id}", "");
    const create = records[list];
    if (create === undefined) {
      unknown.push(`${method} ${path} ${field.join(".")}`);
      continue;
    }
    for (const [name, caller] of Object.entries(callers)) {
      const [firstRecords, secondRecords] = [await create(field), await create(field)];
      const send = (record: Json, guess: string) => {
        const body = structuredClone(record);
        // POST sends an existing id, which is refused in any case.
        if (method === "POST") {
          for (const secret of Object.values(body.credential_type ?? {}) as Json[])
            if (secret?.value === MASK) secret.value = RIGHT;
          if (body.email !== undefined) body.password = RIGHT;
        }
        field.slice(0, -1).reduce((node, name) => node[name], body)[field.at(-1) as string] = guess;
        return caller.send(method, path.replace("{id}", record.id), body);
      };
      for (const [index, record] of firstRecords.entries()) {
        const responses = [await send(record, RIGHT), await send(secondRecords[index] as Json, WRONG)] as const;
        pairs += 1;
        if (shapeOf(responses[0]) !== shapeOf(responses[1]))
          differing.push(`${method} ${path} ${field.join(".")} by ${name}`);
      }
    }
  }
  return {
    claim: "no operation that takes a secret distinguishes the correct one from a wrong one, for any caller",
    held: unknown.length === 0 && differing.length === 0 && pairs > 20,
    figure: `${secretFields.length} fields, ${pairs} pairs of responses, ${differing.length} that differ${[...differing, ...unknown.map((field) => `untested: ${field}`)].map((text) => `; ${text}`).join("")}`,
  };
}

/** Collects the values at a path of a document, through lists. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (value === null || value === undefined) return [];
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as Json)[name], rest);
}

/** Filters by every id field that the appliance lists, as callers limited to one network. */
async function guessByFilters({ testbed, owner, people, callers }: Fixture): Promise<Finding> {
  const document = JSON.parse((await testbed.send("GET", "/api/openapi.json", undefined)).text) as Json;
  const [parameter] = document.paths["/api/v1/fields/{kind}"].get.parameters as Json[];
  const kinds = (parameter?.schema.enum ?? []) as string[];
  const hosts = dataOf(await owner.get("hosts")) as unknown as Json[];
  const networks = dataOf(await owner.get("networks")) as unknown as Json[];
  const unreachableIds = [
    ...networks.filter(({ id }) => id !== people.networkId),
    ...hosts.filter(({ network_id }) => network_id !== people.networkId),
  ].map(({ id }) => id as string);
  const wrong: string[] = [];
  let filterCount = 0;
  const { at } = dataOf(await owner.get("ledger"));
  /** Fetches the rows of a list or a diff; null for a refusal. */
  const fetchRows = async (caller: Caller, path: string): Promise<Json[] | null> => {
    const response = await caller.get(path);
    if (response.status !== 200) return null;
    const data = dataOf(response);
    return Array.isArray(data) ? data : Object.values(data).filter(Array.isArray).flat();
  };
  for (const kind of kinds) {
    const { path: listed, fields } = dataOf(await owner.get(`fields/${kind}`));
    if (listed.includes("{")) continue;
    const names = (fields as Json[]).flatMap(({ name, type }) => (type === "uuid" && name !== "id" ? [name] : []));
    for (const [callerName, caller] of Object.entries(callers)) {
      if (caller === owner) continue;
      const visible = await fetchRows(caller, `${listed}?limit=0`);
      if (visible === null) continue;
      for (const name of names as string[]) {
        const find = (filter: string) => fetchRows(caller, `${listed}?limit=0&filter=${encodeURIComponent(filter)}`);
        const countHaving = (path: readonly string[]) => visible.filter((row) => valuesAt(row, path).length > 0).length;
        const path = name.split(".");
        const found = await find(`${name}:*`);
        const idFilter = unreachableIds.map((id) => `${name} = "${id}"`).join(" OR ");
        const responses = [
          await find(idFilter),
          await find(`was(${at}, ${idFilter})`),
          await find(`ever(${idFilter}, "-1d")`),
          await fetchRows(caller, `diff?from=-1d&types=${kind}&filter=${encodeURIComponent(idFilter)}`),
        ];
        filterCount += 2 + responses.length;
        // A filter may match nested fields that are not shown, but only if the enclosing field is.
        if (found !== null && (found.length < countHaving(path) || found.length > countHaving(path.slice(0, 1))))
          wrong.push(`${kind}.${name}:* by ${callerName}`);
        if (responses.some((rows) => rows !== null && rows.length > 0))
          wrong.push(`${kind}.${name} = … by ${callerName}`);
      }
    }
  }
  return {
    claim: "a filter by a field of ids matches only values visible to its caller",
    held: wrong.length === 0 && filterCount > 100,
    figure: `${filterCount} filters over ${kinds.length} kinds, ${wrong.length} that revealed more${wrong.map((text) => `; ${text}`).join("")}`,
  };
}
