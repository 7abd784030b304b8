// Authorization test cases by operation: valid requests for records that the caller can and cannot access, now and at
// other timestamps, each with the expected outcome for a caller with the role. contract.ts decides on the role.

import { expect } from "bun:test";
import type { RegisteredRoute } from "../../../src/http/surface.ts";
import type { ApiResponse } from "../appliance/client.ts";
import type { JsonRecord } from "../appliance/factories.ts";
import { csvRecords } from "../contract/csv.ts";
import { bodyOf, creationCode, disposablePath, disposableRecord, keyBody } from "./bodies.ts";
import { CallContext, type Case, idsOf, sorted, withQuery } from "./call-context.ts";
import { STANDARD } from "./contract.ts";
import type { Caller, Fixture } from "./fixture.ts";
import { SPECIAL_CASES } from "./special-cases.ts";

/** Query parameters covered by the cases below; a new one needs a case first. */
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
export function casesOf(fixture: Fixture, caller: Caller, route: RegisteredRoute): Case[] {
  for (const name of Object.keys(route.operation.query?.properties ?? {})) {
    if (!KNOWN_PARAMETERS.has(name))
      throw new Error(`${route.method} ${route.path} takes ${name}, which has no authorization test`);
  }
  const context = new CallContext(fixture, caller, route);
  const special = SPECIAL_CASES[`${route.method} ${route.path}`];
  if (special !== undefined) return special(context);
  const [, plural = "", rest = ""] =
    /^\/api\/v1\/(.*?)(\/export\/csv|\/:id.*|\/bulk-delete|\/bulk-update|\/import\/csv)?$/.exec(route.path) ?? [];
  const standard = STANDARD[plural] === undefined ? undefined : STANDARD_CASES[`${route.method} ${rest}`];
  if (standard === undefined)
    throw new Error(`${route.method} ${route.path} is not covered by the authorization tests`);
  return standard(context, plural);
}

interface ListQuery {
  readonly title: string;
  readonly query: string;
  /** Visible records that the request must find; null where these tests do not check. */
  readonly matches: ((record: JsonRecord) => boolean) | null;
}

/** Every list query that the parameters allow. */
function listQueries(context: CallContext, plural: string): ListQuery[] {
  const { fixture, caller } = context;
  const all = () => true;
  const queries: ListQuery[] = [{ title: "all", query: "", matches: all }];
  const addQuery = (parameter: string, title: string, query: string, matches: ListQuery["matches"]) => {
    if (context.hasParameter(parameter)) queries.push({ title, query, matches });
  };
  const ids = context.targets(plural).map(({ id }) => id);
  addQuery("ids", "by ids", ids.map((id) => `ids=${id}`).join("&"), (record) => ids.includes(record.id));
  const isFoundByAddress = ["hosts", "ip-addresses"].includes(plural);
  for (const site of context.sites) {
    const addSiteQuery = (name: string, value: string, matches: ListQuery["matches"]) =>
      addQuery(name, `${name} of ${site.name}`, `${name}=${encodeURIComponent(value)}`, matches);
    const [hostId, serviceId, subnetId, tagId] = ["hosts", "services", "subnets", "tags"].map(
      (path) => site.records[path]?.id,
    );
    const { organizationId, networkId } = site;
    addSiteQuery("network_id", networkId, (record) => record.network_id === networkId);
    addSiteQuery("host_id", hostId, (record) => record.host_id === hostId);
    addSiteQuery("service_id", serviceId, (record) => record.service_id === serviceId);
    addSiteQuery("subnet_id", subnetId, (record) => record.subnet_id === subnetId);
    addSiteQuery("tag_ids", tagId, (record) => record.tags.includes(tagId));
    const definition = `${site.word} Nginx`;
    addSiteQuery("service_definition", definition, (record) => record.service_definition === definition);
    // The words of hidden records must match nothing. For other queries it suffices that no hidden record is returned.
    const isHidden = !fixture.oracle.canSee(caller, { id: "", kind: "", organizationId, networkId, versions: [] });
    for (const word of isFoundByAddress
      ? [site.word, `10.${site.octet}.`, `02:00:00:${site.octet.toString(16)}`]
      : [site.word])
      addSiteQuery("search", word, isHidden && isFoundByAddress ? () => false : null);
  }
  if (context.hasParameter("filter")) queries.push(...filterQueries(context, plural));
  for (const flag of ["hidden", "accepts_credentials"])
    addQuery(flag, flag, `${flag}=true`, (record) => record[flag] === true);
  for (const entity of context.values("entity"))
    addQuery("entity", `of the kind ${entity}`, `entity=${entity}`, (record) => record.entity === entity);
  const included = plural === "hosts" ? "counts" : "utilization";
  addQuery("include", included, `include=${included}`, all);
  addQuery("include_children", "without children", "include_children=false", all);
  addQuery("children", "addresses", "children=ip_addresses", all);
  // Each order is a separate path through the records; the choice of field makes no difference.
  for (const field of context.values("order_by").slice(0, 2))
    addQuery("order_by", `by ${field}`, `group_by=${field}&order_by=${field}&order_direction=desc`, all);
  return queries;
}

/** Filters on the record, on referenced records and on time. */
function filterQueries(context: CallContext, plural: string): ListQuery[] {
  const filterQuery = (filter: string, matches: ListQuery["matches"]): ListQuery => ({
    title: `filter ${filter}`,
    query: `filter=${encodeURIComponent(filter)}`,
    matches,
  });
  const queries = [
    filterQuery("id:*", () => true),
    filterQuery("NOT id:*", () => false),
    filterQuery(`was(${context.fixture.middle}, id:*)`, null),
  ];
  for (const site of context.sites) {
    const sample: JsonRecord = site.records[plural] ?? {};
    const isAtSite = (record: JsonRecord) => record.network_id === site.networkId;
    if (sample.network_id !== undefined)
      queries.push(
        filterQuery(`network_id = ${site.networkId}`, isAtSite),
        filterQuery(`network.id = ${site.networkId}`, isAtSite),
        filterQuery(`ever(network_id = ${site.networkId}, -52w)`, null),
      );
    const hostId = site.records.hosts?.id;
    if (sample.host_id !== undefined && plural !== "discovery/ignored")
      queries.push(filterQuery(`host.id = ${hostId}`, (record) => record.host_id === hostId));
    if (sample.tags !== undefined) queries.push(filterQuery(`tags.name : "${site.word}" OR tags:*`, null));
  }
  return queries;
}

function listCases(context: CallContext, plural: string, read: (response: ApiResponse) => string[]): Case[] {
  const cases: Case[] = [];
  const isTable = context.path.endsWith("csv");
  const limitQuery = isTable ? "" : "limit=1000";
  for (const { title, query, matches } of listQueries(context, plural)) {
    const instants = context
      .instants()
      .filter((instant) => title === "all" || instant.query === "" || instant.query.endsWith(context.fixture.middle));
    for (const instant of instants) {
      const check = (response: ApiResponse) => {
        const visible = context.liveRecords(plural, instant.sequence);
        const found = read(response);
        if (matches === null) expect(idsOf(visible)).toEqual(expect.arrayContaining(found));
        else expect(sorted(found)).toEqual(sorted(idsOf(visible.filter(matches))));
        if (!isTable) expect(response.body.meta.pagination.total_count).toBe(found.length);
      };
      cases.push({
        title: `${title}, ${instant.title}`,
        path: withQuery(context.path, query, limitQuery, instant.query),
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
    const check = (response: ApiResponse) => {
      const visible = context.liveRecords(plural, context.fixture.oracle.head);
      const offset = page.includes("offset") ? 1 : 0;
      expect(read(response)).toEqual(idsOf(visible).slice(offset, offset + size));
      expect(response.body.meta.pagination.total_count).toBe(visible.length);
    };
    cases.push({ title: page, path: withQuery(context.path, page), code: null, check });
  }
  return cases;
}

/** Standard cases by method and remaining path. */
const STANDARD_CASES: Readonly<Record<string, (context: CallContext, plural: string) => Case[]>> = {
  "GET ": (context, plural) => listCases(context, plural, ({ data }) => idsOf(data)),
  "GET /export/csv": (context, plural) => listCases(context, plural, ({ text }) => idsOf(csvRecords(text))),
  "GET /:id": (context, plural) => {
    const { fixture } = context;
    const cases = context.targets(plural).flatMap(({ title, id, isReached }) =>
      context.instants().map(
        (instant): Case => ({
          title: `${title}, ${instant.title}`,
          path: withQuery(context.path.replace(":id", id), instant.query),
          code: isReached && instant.title !== fixture.early ? null : "entity_not_found",
          check: ({ data }) => expect(data.id).toBe(id),
        }),
      ),
    );
    if (plural !== "hosts") return cases;
    const afterDeletion = context.deletedHosts().flatMap(({ title, id, isReached }) =>
      context.instants().map(
        (instant): Case => ({
          title: `${title}, ${instant.title}`,
          path: withQuery(`/api/v1/hosts/${id}`, instant.query),
          code: isReached && instant.title === fixture.middle ? null : "entity_not_found",
        }),
      ),
    );
    return [...cases, ...afterDeletion];
  },
  "GET /:id/history": (context, plural) => {
    const { oracle, early, late } = context.fixture;
    const afterDeletion = plural === "hosts" ? context.deletedHosts() : [];
    return [...context.targets(plural), ...afterDeletion].flatMap(({ title, id, isReached }) =>
      context
        .instants()
        .filter((instant) => instant.title !== early && instant.title !== late)
        .map(
          (instant): Case => ({
            title: `${title}, ${instant.title}`,
            path: withQuery(context.path.replace(":id", id), "limit=1000", instant.query),
            code: isReached ? null : "entity_not_found",
            check: ({ data, body }) => {
              const versions = (oracle.find(id)?.versions ?? []).filter(
                (version) => version.sequence <= instant.sequence,
              );
              expect(data.map((version: JsonRecord) => version.transaction.sequence)).toEqual(
                versions.map((version) => version.sequence).reverse(),
              );
              expect(body.meta.pagination.total_count).toBe(versions.length);
            },
          }),
        ),
    );
  },
  "POST ": (context, plural) =>
    (STANDARD[plural]?.scope === "network" && plural !== "networks"
      ? context.sites
      : context.sites.filter((site) => site.name !== "far" || plural === "credentials" || plural === "auth/keys")
    ).map(
      (site): Case => ({
        title: site.name,
        path: context.path,
        body: {},
        code: creationCode(context, plural, site),
        prepare: async () => ({ body: await bodyOf(context, plural, site) }),
      }),
    ),
  "PUT /:id": (context, plural) =>
    context.targets(plural).map(({ title, id, site, isReached, role }): Case => {
      const path = context.path.replace(":id", id);
      const stored = (site ?? context.homeSite).records[plural] ?? keyBody(context, context.homeSite);
      // Sending a body back unchanged is allowed and changes nothing, including fields hidden from the caller.
      const prepare = async () => ({ body: (await context.caller.client.get(path)).data });
      return {
        title,
        path,
        body: { ...stored, id },
        code: isReached ? null : "entity_not_found",
        ...(isReached ? { prepare, ...(role === undefined ? {} : { role }) } : {}),
      };
    }),
  "DELETE /:id": (context, plural) =>
    context.targets(plural).map(({ title, id, site, isReached, role }): Case => {
      const path = context.path.replace(":id", id);
      if (!isReached || site === null) return { title, path, code: "entity_not_found" };
      if (isOutOfReach(context, plural)) return { title, path, code: "entity_access_denied" };
      // A key limited to one network reaches only its own, which is in use.
      if (plural === "networks" && context.caller.networkIds !== null) return { title, path, code: "entity_in_use" };
      const prepare = disposablePath(context, plural, site, role);
      return { title, path, code: null, ...(role === undefined ? {} : { role }), prepare };
    }),
  "POST /bulk-delete": (context, plural) =>
    context.targets(plural).flatMap(({ title, id, site, isReached, role }): Case[] => {
      const { path } = context;
      if (!isReached || site === null) {
        const hidden: Case = { title, path, body: [id], code: "entity_reference_invalid" };
        // A key limited to some networks can't create such a record in the organization to delete it.
        if (
          ["networks", "users", "credentials", "custom-fields"].includes(plural) &&
          context.caller.networkIds !== null
        )
          return [hidden];
        let sparedId = "";
        const prepare = async () => {
          sparedId = await disposableRecord(context, plural, context.homeSite);
          return { body: [sparedId, id] };
        };
        const afterwards = () => {
          if (sparedId !== "")
            expect(context.fixture.oracle.find(sparedId)?.versions.at(-1)?.operation).not.toBe("Deleted");
        };
        return [hidden, { ...hidden, title: `${title} with one within reach`, prepare, afterwards }];
      }
      if (plural === "networks" && context.caller.networkIds !== null)
        return [{ title, path, body: [id], code: "entity_in_use" }];
      if (isOutOfReach(context, plural)) return [{ title, path, body: [id], code: "entity_access_denied" }];
      const prepare = async () => ({ body: [await disposableRecord(context, plural, site, role)] });
      return [{ title, path, body: [id], code: null, ...(role === undefined ? {} : { role }), prepare }];
    }),
  "POST /bulk-update": (context, plural) => {
    const { path } = context;
    const settable = settableField(plural);
    const ids = context.targets(plural).map(({ title, id, site, isReached }): Case => {
      const value = site?.records[plural]?.[settable] ?? (settable === "protocol" ? "Tcp" : `${site?.word} text`);
      const code = isReached ? null : "entity_reference_invalid";
      const check = ({ data }: ApiResponse) => expect(data.ids).toEqual([id]);
      return { title, path, body: { ids: [id], set: { [settable]: value } }, code, check };
    });
    // The filter returns the same records as the list.
    const check = ({ data }: ApiResponse) => {
      expect(sorted(data.ids)).toEqual(sorted(idsOf(context.liveRecords(plural, context.fixture.oracle.head))));
      expect(data.applied).toBe(false);
    };
    const set = { [settable]: settable === "protocol" ? "Tcp" : "text" };
    const isPlanned = plural !== "ports" && plural !== "services";
    // Shared records (credentials, tags) are changed only by callers with access to everything affected.
    const code = plural === "tags" && context.caller.networkIds !== null ? "entity_access_denied" : null;
    const plan: Case = { title: "all", path, body: { filter: "id:*", set, dry_run: true }, code, check };
    return isPlanned ? [...ids, plan] : ids;
  },
  "POST /import/csv": (context, plural) => {
    const { path } = context;
    const headers = { "content-type": "text/csv" };
    const field = settableField(plural);
    const ids = context.targets(plural).map(({ title, id, site, isReached }): Case => {
      const value = site?.records[plural]?.[field] ?? (field === "protocol" ? "Tcp" : `${site?.word} text`);
      // A row for an unknown record would create it, and lacks required fields.
      return {
        title,
        path,
        headers,
        body: `id,${field}\r\n${id},${value}\r\n`,
        code: isReached ? null : "validation_failed",
      };
    });
    const check = ({ data }: ApiResponse) =>
      expect([data.applied, data.counts.created, data.counts.updated]).toEqual([false, 0, 0]);
    const prepare = async () => ({ body: (await context.caller.client.get(path.replace("import", "export"))).text });
    const all: Case = { title: "the unchanged export", path, headers, body: "id", code: null, prepare, check };
    return [...ids, all];
  },
  "POST /:id/restore": (context, plural) => {
    const { middle, early, deletedNetworkId } = context.fixture;
    const targets = context.targets(plural).filter(({ title }) => title !== "an Owner");
    if (plural === "hosts") targets.push(...context.deletedHosts());
    // "Owner also … restore of deleted networks."
    if (plural === "networks")
      targets.push({
        title: "a deleted network",
        id: deletedNetworkId,
        site: context.fixture.sites.near,
        isReached: context.isOwn(context.fixture.sites.near) && context.caller.networkIds === null,
        role: "Owner",
      });
    return targets.flatMap(({ title, id, isReached, role }) =>
      [middle, early].map((at): Case => {
        const existsThen = isReached && at === middle;
        const check = ({ data }: ApiResponse) => expect(data).toMatchObject({ applied: false, sequence: null });
        const code = !existsThen ? "entity_not_found" : isOutOfReach(context, plural) ? "entity_access_denied" : null;
        return {
          title: `${title}, ${at}`,
          path: context.path.replace(":id", id),
          body: { at, dry_run: true },
          code,
          check,
          ...(existsThen && role !== undefined ? { role } : {}),
        };
      }),
    );
  },
};

/** Field of a kind that a bulk write may set on every record. */
function settableField(plural: string): string {
  if (plural === "ports") return "protocol";
  if (plural === "if-entries") return "if_alias";
  if (plural === "bindings") return "type";
  if (plural === "discovery/schedules") return "timezone";
  return ["ip-addresses", "services"].includes(plural) ? "name" : "description";
}

/**
 * Shared records are changed only by callers with access to everything affected: the credential is assigned in every
 * network, and users are managed by callers with access to all networks.
 */
function isOutOfReach(context: CallContext, plural: string): boolean {
  return ["credentials", "users"].includes(plural) && context.caller.networkIds !== null;
}
