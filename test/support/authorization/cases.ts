// Authorization test cases per operation: valid requests for records within and beyond the caller's reach, now and at
// other timestamps, each with the expected outcome for a caller with the role. contract.ts decides on the role.

import { expect } from "bun:test";
import type { RegisteredRoute } from "../../../src/http/surface.ts";
import type { Answer } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";
import { csvRecords } from "../contract/csv.ts";
import { Asking, type Case, idsOf, sorted, type Target, withQuery } from "./asking.ts";
import { bodyOf, creationCode, keyBody, victim } from "./bodies.ts";
import { STANDARD } from "./contract.ts";
import { SPECIAL_CASES } from "./special-cases.ts";
import type { Caller, World } from "./world.ts";

/** Parameters covered by the cases below; a new one needs a case before it passes. */
const KNOWN_PARAMETERS = new Set(
  [
    "limit offset at ids network_id host_id service_id subnet_id tag_ids hidden accepts_credentials search",
    "service_definition include include_children children include_isolated group_by order_by order_direction",
    "cascade types filter after mark wait from to reason format mac ip hostname q entity status type id",
    "actor_type actor_id actor_name buckets fields operation count prefix_length accepted known level before keep",
    "hops change within ignore dry_run match plan selves cron timezone",
  ].flatMap((line) => line.split(" ")),
);

/** @throws Error for an operation or parameter without a case */
export function casesOf(world: World, caller: Caller, route: RegisteredRoute): Case[] {
  for (const name of Object.keys(route.operation.query?.properties ?? {})) {
    if (!KNOWN_PARAMETERS.has(name))
      throw new Error(`${route.method} ${route.path} takes ${name}, of which the authorization tests know nothing`);
  }
  const asking = new Asking(world, caller, route);
  const special = SPECIAL_CASES[`${route.method} ${route.path}`];
  if (special !== undefined) return special(asking);
  const [, plural = "", rest = ""] =
    /^\/api\/v1\/(.*?)(\/export\/csv|\/:id.*|\/bulk-delete|\/bulk-update|\/import\/csv)?$/.exec(route.path) ?? [];
  const standard = STANDARD[plural] === undefined ? undefined : STANDARD_CASES[`${route.method} ${rest}`];
  if (standard === undefined)
    throw new Error(`${route.method} ${route.path} is asked nothing by the authorization tests`);
  return standard(asking, plural);
}

interface Listing {
  readonly title: string;
  readonly query: string;
  /** Visible records that the request must find; null where these tests do not check. */
  readonly finds: ((record: Wire) => boolean) | null;
}

/** Every list query that the parameters allow. */
function listings(asking: Asking, plural: string): Listing[] {
  const { world, caller } = asking;
  const all = () => true;
  const ways: Listing[] = [{ title: "all", query: "", finds: all }];
  const named = asking.targets(plural).map(({ id }) => id);
  if (asking.takes("ids"))
    ways.push({
      title: "by ids",
      query: named.map((id) => `ids=${id}`).join("&"),
      finds: (record) => named.includes(record.id),
    });
  const isFoundByAddress = ["hosts", "ip-addresses"].includes(plural);
  for (const place of asking.places) {
    const way = (name: string, value: string, finds: Listing["finds"]) => {
      if (asking.takes(name))
        ways.push({ title: `${name} of ${place.name}`, query: `${name}=${encodeURIComponent(value)}`, finds });
    };
    const [hostId, serviceId, subnetId, tagId] = ["hosts", "services", "subnets", "tags"].map(
      (each) => place.records[each]?.id,
    );
    way("network_id", place.networkId, (record) => record.network_id === place.networkId);
    way("host_id", hostId, (record) => record.host_id === hostId);
    way("service_id", serviceId, (record) => record.service_id === serviceId);
    way("subnet_id", subnetId, (record) => record.subnet_id === subnetId);
    way("tag_ids", tagId, (record) => record.tags.includes(tagId));
    way("service_definition", `${place.word} Nginx`, (record) => record.service_definition === `${place.word} Nginx`);
    // The words of hidden records must find nothing. For other queries it suffices that no hidden record is returned.
    const isHidden = !world.oracle.sees(caller, {
      id: "",
      kind: "",
      organizationId: place.organizationId,
      networkId: place.networkId,
      versions: [],
    });
    for (const word of isFoundByAddress
      ? [place.word, `10.${place.octet}.`, `02:00:00:${place.octet.toString(16)}`]
      : [place.word])
      way("search", word, isHidden && isFoundByAddress ? () => false : null);
  }
  if (asking.takes("filter")) ways.push(...filtered(asking, plural));
  if (asking.takes("hidden"))
    ways.push({ title: "hidden", query: "hidden=true", finds: (record) => record.hidden === true });
  if (asking.takes("accepts_credentials"))
    ways.push({
      title: "accepts_credentials",
      query: "accepts_credentials=true",
      finds: (record) => record.accepts_credentials === true,
    });
  for (const entity of asking.values("entity"))
    ways.push({
      title: `of the kind ${entity}`,
      query: `entity=${entity}`,
      finds: (record) => record.entity === entity,
    });
  const included = plural === "hosts" ? "counts" : "utilization";
  if (asking.takes("include")) ways.push({ title: included, query: `include=${included}`, finds: all });
  if (asking.takes("include_children")) ways.push({ title: "alone", query: "include_children=false", finds: all });
  if (asking.takes("children")) ways.push({ title: "addresses", query: "children=ip_addresses", finds: all });
  // Each order is a separate path through the records; the choice of field makes no difference.
  for (const field of asking.values("order_by").slice(0, 2))
    ways.push({ title: `by ${field}`, query: `group_by=${field}&order_by=${field}&order_direction=desc`, finds: all });
  return ways;
}

/** Filters on the record, on referenced records and on time. */
function filtered(asking: Asking, plural: string): Listing[] {
  const of = (filter: string, finds: Listing["finds"]): Listing => ({
    title: `filter ${filter}`,
    query: `filter=${encodeURIComponent(filter)}`,
    finds,
  });
  const ways = [of("id:*", () => true), of("NOT id:*", () => false), of(`was(${asking.world.then}, id:*)`, null)];
  for (const place of asking.places) {
    const sample: Wire = place.records[plural] ?? {};
    const isThere = (record: Wire) => record.network_id === place.networkId;
    if (sample.network_id !== undefined)
      ways.push(
        of(`network_id = ${place.networkId}`, isThere),
        of(`network.id = ${place.networkId}`, isThere),
        of(`ever(network_id = ${place.networkId}, -52w)`, null),
      );
    const hostId = place.records.hosts?.id;
    if (sample.host_id !== undefined && plural !== "discovery/ignored")
      ways.push(of(`host.id = ${hostId}`, (record) => record.host_id === hostId));
    if (sample.tags !== undefined) ways.push(of(`tags.name : "${place.word}" OR tags:*`, null));
  }
  return ways;
}

function listCases(asking: Asking, plural: string, read: (answer: Answer) => string[]): Case[] {
  const cases: Case[] = [];
  const isTable = asking.path.endsWith("csv");
  const whole = isTable ? "" : "limit=1000";
  for (const { title, query, finds } of listings(asking, plural)) {
    const instants = asking
      .instants()
      .filter((instant) => title === "all" || instant.query === "" || instant.query.endsWith(asking.world.then));
    for (const instant of instants) {
      const check = (answer: Answer) => {
        const visible = asking.living(plural, instant.sequence);
        const found = read(answer);
        if (finds === null) expect(idsOf(visible)).toEqual(expect.arrayContaining(found));
        else expect(sorted(found)).toEqual(sorted(idsOf(visible.filter(finds))));
        if (!isTable) expect(answer.body.meta.pagination.total_count).toBe(found.length);
      };
      cases.push({
        title: `${title}, ${instant.title}`,
        path: withQuery(asking.path, query, whole, instant.query),
        code: null,
        check,
      });
    }
  }
  if (isTable) return cases;
  for (const [page, size] of [
    ["limit=0", 1_000_000],
    ["limit=1", 1],
    ["limit=2&offset=1", 2],
  ] as const) {
    const check = (answer: Answer) => {
      const visible = asking.living(plural, asking.world.oracle.head);
      const offset = page.includes("offset") ? 1 : 0;
      expect(read(answer)).toEqual(idsOf(visible).slice(offset, offset + size));
      expect(answer.body.meta.pagination.total_count).toBe(visible.length);
    };
    cases.push({ title: page, path: withQuery(asking.path, page), code: null, check });
  }
  return cases;
}

/** By method and the remaining path. */
const STANDARD_CASES: Readonly<Record<string, (asking: Asking, plural: string) => Case[]>> = {
  "GET ": (asking, plural) => listCases(asking, plural, ({ data }) => idsOf(data)),
  "GET /export/csv": (asking, plural) => listCases(asking, plural, ({ text }) => idsOf(csvRecords(text))),
  "GET /:id": (asking, plural) => {
    const { world } = asking;
    const cases = asking.targets(plural).flatMap(({ title, id, isReached }) =>
      asking.instants().map(
        (instant): Case => ({
          title: `${title}, ${instant.title}`,
          path: withQuery(asking.path.replace(":id", id), instant.query),
          code: isReached && instant.title !== world.early ? null : "entity_not_found",
          check: ({ data }) => expect(data.id).toBe(id),
        }),
      ),
    );
    if (plural !== "hosts") return cases;
    const gone = asking.places.flatMap((place) =>
      asking.instants().map(
        (instant): Case => ({
          title: `gone from ${place.name}, ${instant.title}`,
          path: withQuery(`/api/v1/hosts/${place.goneHostId}`, instant.query),
          code: asking.reaches(place) && instant.title === world.then ? null : "entity_not_found",
        }),
      ),
    );
    return [...cases, ...gone];
  },
  "GET /:id/history": (asking, plural) => {
    const { oracle, early, late } = asking.world;
    const gone =
      plural === "hosts"
        ? asking.places.map(
            (place): Target => ({
              title: `gone from ${place.name}`,
              id: place.goneHostId,
              place,
              isReached: asking.reaches(place),
            }),
          )
        : [];
    return [...asking.targets(plural), ...gone].flatMap(({ title, id, isReached }) =>
      asking
        .instants()
        .filter((instant) => instant.title !== early && instant.title !== late)
        .map(
          (instant): Case => ({
            title: `${title}, ${instant.title}`,
            path: withQuery(asking.path.replace(":id", id), "limit=1000", instant.query),
            code: isReached ? null : "entity_not_found",
            check: ({ data, body }) => {
              const versions = (oracle.find(id)?.versions ?? []).filter(
                (version) => version.sequence <= instant.sequence,
              );
              expect(data.map((version: Wire) => version.transaction.sequence)).toEqual(
                versions.map((version) => version.sequence).reverse(),
              );
              expect(body.meta.pagination.total_count).toBe(versions.length);
            },
          }),
        ),
    );
  },
  "POST ": (asking, plural) =>
    (STANDARD[plural]?.place === "network" && plural !== "networks"
      ? asking.places
      : asking.places.filter((place) => place.name !== "far" || plural === "credentials" || plural === "auth/keys")
    ).map(
      (place): Case => ({
        title: place.name,
        path: asking.path,
        body: {},
        code: creationCode(asking, plural, place),
        fresh: async () => ({ body: await bodyOf(asking, plural, place) }),
      }),
    ),
  "PUT /:id": (asking, plural) =>
    asking.targets(plural).map(({ title, id, place, isReached, role }): Case => {
      const path = asking.path.replace(":id", id);
      const stored = (place ?? asking.home).records[plural] ?? keyBody(asking, asking.home);
      // A body as read may be sent back: nothing changes, including fields hidden from the caller.
      const fresh = async () => ({ body: (await asking.caller.client.get(path)).data });
      return {
        title,
        path,
        body: { ...stored, id },
        code: isReached ? null : "entity_not_found",
        ...(isReached ? { fresh, ...(role === undefined ? {} : { role }) } : {}),
      };
    }),
  "DELETE /:id": (asking, plural) =>
    asking.targets(plural).map(({ title, id, place, isReached, role }): Case => {
      const path = asking.path.replace(":id", id);
      if (!isReached || place === null) return { title, path, code: "entity_not_found" };
      if (isOutOfReach(asking, plural)) return { title, path, code: "entity_access_denied" };
      if (role !== undefined)
        return {
          title,
          path,
          code: null,
          role,
          fresh: async () => ({ path: asking.path.replace(":id", await victim(asking, plural, place, role)) }),
        };
      // A key limited to one network reaches no other network to delete.
      if (plural === "networks" && asking.caller.networkIds !== null) return { title, path, code: "entity_in_use" };
      return {
        title,
        path,
        code: null,
        fresh: async () => ({ path: asking.path.replace(":id", await victim(asking, plural, place)) }),
      };
    }),
  "POST /bulk-delete": (asking, plural) =>
    asking.targets(plural).flatMap(({ title, id, place, isReached, role }): Case[] => {
      const { path } = asking;
      if (!isReached || place === null) {
        const hidden: Case = { title, path, body: [id], code: "entity_reference_invalid" };
        // A key limited to some networks has no other network, user, credential or custom field of the organization to
        // delete.
        if (["networks", "users", "credentials", "custom-fields"].includes(plural) && asking.caller.networkIds !== null)
          return [hidden];
        let spared = "";
        const fresh = async () => {
          spared = await victim(asking, plural, asking.home);
          return { body: [spared, id] };
        };
        const afterwards = () => {
          if (spared !== "") expect(asking.world.oracle.find(spared)?.versions.at(-1)?.operation).not.toBe("Deleted");
        };
        return [
          hidden,
          {
            title: `${title} beside one that is reached`,
            path,
            body: [id],
            code: "entity_reference_invalid",
            fresh,
            afterwards,
          },
        ];
      }
      if (plural === "networks" && asking.caller.networkIds !== null)
        return [{ title, path, body: [id], code: "entity_in_use" }];
      if (isOutOfReach(asking, plural)) return [{ title, path, body: [id], code: "entity_access_denied" }];
      return [
        {
          title,
          path,
          body: [id],
          code: null,
          ...(role === undefined ? {} : { role }),
          fresh: async () => ({ body: [await victim(asking, plural, place, role)] }),
        },
      ];
    }),
  "POST /bulk-update": (asking, plural) => {
    const { path } = asking;
    const settable = settableField(plural);
    const named = asking.targets(plural).map(({ title, id, place, isReached }): Case => {
      const value = place?.records[plural]?.[settable] ?? (settable === "protocol" ? "Tcp" : `${place?.word} text`);
      const code = isReached ? null : "entity_reference_invalid";
      const check = ({ data }: Answer) => expect(data.ids).toEqual([id]);
      return { title, path, body: { ids: [id], set: { [settable]: value } }, code, check };
    });
    // The filter returns the same records as the list.
    const check = ({ data }: Answer) => {
      expect(sorted(data.ids)).toEqual(sorted(idsOf(asking.living(plural, asking.world.oracle.head))));
      expect(data.applied).toBe(false);
    };
    const set = { [settable]: settable === "protocol" ? "Tcp" : "text" };
    const isPlanned = plural !== "ports" && plural !== "services";
    // "What is shared (credentials, tags) is changed only by who reaches everything that it touches."
    const code = plural === "tags" && asking.caller.networkIds !== null ? "entity_access_denied" : null;
    const plan: Case = { title: "all", path, body: { filter: "id:*", set, dry_run: true }, code, check };
    return isPlanned ? [...named, plan] : named;
  },
  "POST /import/csv": (asking, plural) => {
    const { path } = asking;
    const headers = { "content-type": "text/csv" };
    const field = settableField(plural);
    const named = asking.targets(plural).map(({ title, id, place, isReached }): Case => {
      const value = place?.records[plural]?.[field] ?? (field === "protocol" ? "Tcp" : `${place?.word} text`);
      // A row for an unknown record would create it, and lacks required fields.
      return {
        title,
        path,
        headers,
        body: `id,${field}\r\n${id},${value}\r\n`,
        code: isReached ? null : "validation_failed",
      };
    });
    const check = ({ data }: Answer) =>
      expect([data.applied, data.counts.created, data.counts.updated]).toEqual([false, 0, 0]);
    const fresh = async () => ({ body: (await asking.caller.client.get(path.replace("import", "export"))).text });
    const all: Case = { title: "what they see, as it is", path, headers, body: "id", code: null, fresh, check };
    return [...named, all];
  },
  "POST /:id/restore": (asking, plural) => {
    const { then, early, goneNetworkId } = asking.world;
    const targets = asking.targets(plural).filter(({ title }) => title !== "an Owner");
    if (plural === "hosts")
      targets.push(
        ...asking.places.map(
          (place): Target => ({
            title: `gone from ${place.name}`,
            id: place.goneHostId,
            place,
            isReached: asking.reaches(place),
          }),
        ),
      );
    // "Owner also … restore of deleted networks."
    if (plural === "networks")
      targets.push({
        title: "a deleted network",
        id: goneNetworkId,
        place: asking.world.places.near,
        isReached: asking.isOwn(asking.world.places.near) && asking.caller.networkIds === null,
        role: "Owner",
      });
    return targets.flatMap(({ title, id, isReached, role }) =>
      [then, early].map((at): Case => {
        const isThere = isReached && at === then;
        const check = ({ data }: Answer) => expect(data).toMatchObject({ applied: false, sequence: null });
        const code = !isThere ? "entity_not_found" : isOutOfReach(asking, plural) ? "entity_access_denied" : null;
        return {
          title: `${title}, ${at}`,
          path: asking.path.replace(":id", id),
          body: { at, dry_run: true },
          code,
          check,
          ...(isThere && role !== undefined ? { role } : {}),
        };
      }),
    );
  },
};

/** A field of a kind that a bulk write may set on every record. */
function settableField(plural: string): string {
  if (plural === "ports") return "protocol";
  if (plural === "if-entries") return "if_alias";
  if (plural === "bindings") return "type";
  if (plural === "discovery/schedules") return "timezone";
  return ["ip-addresses", "services"].includes(plural) ? "name" : "description";
}

/**
 * "What is shared is changed only by who reaches everything that it touches": the credential is assigned in every
 * network, and users are managed by those who reach all.
 */
function isOutOfReach(asking: Asking, plural: string): boolean {
  return ["credentials", "users"].includes(plural) && asking.caller.networkIds !== null;
}
