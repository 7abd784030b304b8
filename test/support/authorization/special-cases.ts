// Authorization test cases for operations outside the standard set: sign-in, tags, bulk, changes, locate, backups.

import { expect } from "bun:test";
import { isIpWithin } from "../../../src/base/ip.ts";
import { PASSWORD, SETUP_TOKEN } from "../appliance/appliance.ts";
import type { ApiResponse, Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord, newUser } from "../appliance/factories.ts";
import { waitForScan } from "../appliance/scans.ts";
import { csvRecords } from "../contract/csv.ts";
import { bodyOf, disposablePath, disposableRecord } from "./bodies.ts";
import { type CallContext, type Case, idsOf, sorted, UNKNOWN_ID, withQuery } from "./call-context.ts";
import { STANDARD } from "./contract.ts";
import type { Caller, Site } from "./fixture.ts";
import type { LedgerOracle } from "./oracle.ts";

/** Kinds shown in changes: all except keys and child kinds, which are shown in their parents. */
const VISIBLE_KINDS = [
  "organization",
  ...Object.values(STANDARD)
    .filter(({ read }) => read.sessionOnly !== true)
    .map(({ entity }) => entity),
];

const MISSING_BACKUP = "netledger-20200101T000000000Z.db";

/** Special cases by registered method and path. */
export const SPECIAL_CASES: Readonly<Record<string, (context: CallContext) => Case[]>> = {
  "GET /api/health": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/version": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/auth/setup": ({ path }) => [{ title: "plain", path, code: null }],
  "POST /api/auth/setup": ({ path }) => [
    {
      title: "a second time",
      path,
      body: {
        setup_token: SETUP_TOKEN,
        organization_name: "x",
        network_name: "y",
        email: "z@example.net",
        password: PASSWORD,
      },
      code: "entity_already_exists",
    },
  ],
  // Signing in again ends the client's current session, which the callers still need.
  "POST /api/auth/login": ({ path, fixture }) => [
    {
      title: "as the Owner",
      path,
      body: { email: "owner@first.example", password: PASSWORD },
      headers: { cookie: "" },
      code: null,
      viewer: { ...fixture.sites.near, networkIds: null },
    },
  ],
  "POST /api/auth/logout": ({ path, fixture, caller }) => [
    {
      title: "from a disposable session",
      path,
      code: null,
      prepare: async () => ({ headers: headersOf(await fixture.appliance.signedIn(caller.userId)) }),
    },
  ],
  "GET /api/auth/sessions": ({ path }) => [
    {
      title: "plain",
      path,
      code: null,
      check: ({ data }) => expect(data.filter((session: JsonRecord) => session.is_current)).toHaveLength(1),
    },
  ],
  "DELETE /api/auth/sessions/:id": ({ path, fixture, caller }) => [
    { title: "an unknown session", path: path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
    {
      title: "a disposable session of their own",
      path,
      code: null,
      prepare: async () => ({
        path: path.replace(":id", await sessionOf(await fixture.appliance.signedIn(caller.userId))),
      }),
    },
    {
      title: "another user's session",
      path,
      code: "entity_not_found",
      prepare: async () => {
        const { id } = await newUser(fixture.appliance, { role: "Viewer" });
        return { path: path.replace(":id", await sessionOf(await fixture.appliance.signedIn(id))) };
      },
    },
  ],
  "GET /api/auth/preferences": ({ path }) => [{ title: "plain", path, code: null }],
  "PUT /api/auth/preferences": ({ path, caller }) => [
    {
      title: "their own",
      path,
      body: { of: caller.name },
      code: null,
      check: ({ data }) => expect(data).toEqual({ of: caller.name }),
    },
  ],
  "POST /api/auth/sessions/end-others": ({ path, fixture, caller }) => [
    {
      title: "of a user with disposable sessions",
      path,
      code: null,
      prepare: async () => {
        const { id } = await newUser(fixture.appliance, { role: caller.role });
        await fixture.appliance.signedIn(id);
        return { headers: headersOf(await fixture.appliance.signedIn(id)) };
      },
      check: ({ data }) => expect(data.ended).toBeGreaterThan(0),
    },
  ],
  "PUT /api/auth/password": ({ path }) => [
    { title: "unchanged", path, body: { current_password: PASSWORD, new_password: PASSWORD }, code: null },
  ],
  "GET /api/auth/me": (context) => {
    const { caller, fixture, path } = context;
    const check = ({ data }: ApiResponse) => {
      expect(data).toMatchObject({
        id: caller.userId,
        organization_id: caller.organizationId,
        effective_role: caller.role,
      });
      expect(sorted(data.reachable_network_ids)).toEqual(
        sorted(idsOf(fixture.oracle.liveRecords(caller, "network", fixture.oracle.head))),
      );
    };
    return [{ title: "plain", path, code: null, check }];
  },
  "POST /api/v1/auth/keys/:id/rotate": (context) =>
    context.targets("auth/keys").map(({ title, id, site, isReached, role }): Case => {
      const path = context.path.replace(":id", id);
      if (!isReached || site === null) return { title, path, body: {}, code: "entity_not_found" };
      const prepare = disposablePath(context, "auth/keys", site, role);
      return { title, path, body: {}, code: null, ...(role === undefined ? {} : { role }), prepare };
    }),
  "GET /api/v1/organizations": (context) =>
    context.instants().map(
      (instant): Case => ({
        title: instant.title,
        path: withQuery(context.path, instant.query),
        code: instant.title === context.fixture.early ? "entity_not_found" : null,
        check: ({ data }) => expect(data.id).toBe(context.caller.organizationId),
      }),
    ),
  "PUT /api/v1/organizations": ({ path, caller }) => [
    {
      title: "unchanged",
      path,
      body: { name: "zzsomething" },
      code: null,
      prepare: async () => ({ body: (await caller.client.get(path)).data }),
    },
  ],
  "POST /api/v1/hosts/bulk": (context) =>
    context.sites.flatMap((site): Case[] => {
      const code = context.reaches(site) ? null : "entity_reference_invalid";
      const item = { network_id: site.networkId, name: `${site.word} bulk`, tags: [site.records.tags?.id] };
      const host = site.records.hosts as JsonRecord;
      const completeHost = {
        ...item,
        interfaces: [
          {
            if_index: 1,
            if_descr: site.word,
            native_vlan_id: site.records.vlans?.id,
            neighbor: { type: "Host", id: host.id },
          },
        ],
        virtualization: { type: "Kvm", details: { service_id: site.records.services?.id } },
      };
      const cases: Case[] = [{ title: `a new one in ${site.name}`, path: context.path, body: [completeHost], code }];
      if (context.reaches(site))
        cases.push({
          title: `one of ${site.name}, unchanged`,
          path: context.path,
          body: [{ id: host.id, network_id: site.networkId, name: host.name }],
          code: null,
          check: ({ data }) => expect(data[0].operation).toBe("Unchanged"),
        });
      // "A Member's host update that changes `credential_assignments` is 403."
      if (context.reaches(site))
        cases.push({
          title: `one of ${site.name} with an assigned credential`,
          path: context.path,
          body: [{ ...item, credential_assignments: [{ credential_id: site.records.credentials?.id }] }],
          code: context.caller.networkIds === null ? null : "entity_access_denied",
          role: "Admin",
        });
      return cases;
    }),
  "PUT /api/v1/hosts/:id/consolidate/:other_id": (context) =>
    context.targets("hosts").flatMap(({ title, id, site, isReached }): Case[] => {
      const consolidatePath = (survivingId: string, mergedId: string) =>
        context.path.replace(":id", survivingId).replace(":other_id", mergedId);
      const path = consolidatePath(id, id);
      if (!isReached || site === null) {
        const prepare = async () => ({
          path: consolidatePath(await disposableRecord(context, "hosts", context.homeSite), id),
        });
        return [
          { title: `into ${title}`, path, code: "entity_not_found" },
          { title: `of ${title}`, path, code: "entity_not_found", prepare },
        ];
      }
      const prepare = async () => ({
        path: consolidatePath(
          await disposableRecord(context, "hosts", site),
          await disposableRecord(context, "hosts", site),
        ),
      });
      return [
        {
          title: `two of ${title}`,
          path,
          code: null,
          prepare,
          check: ({ data }) => expect(data.actions.map(({ action }: JsonRecord) => action)).toContain("Closed"),
        },
        // "Admin where either host has credential assignments": the response must not reveal which host.
        {
          title: `one of ${title} with an assigned credential`,
          path,
          code: null,
          role: "Admin",
          prepare: async () => {
            const [surviving, merged] = [
              await disposableRecord(context, "hosts", site),
              await disposableRecord(context, "hosts", site),
            ];
            await expectOk(
              site.owner.post("credentials", {
                ...(await bodyOf(context, "credentials", site)),
                assigned_network_ids: [],
                host_assignments: [{ host_id: merged }],
              }),
            );
            return { path: consolidatePath(surviving, merged) };
          },
        },
      ];
    }),
  "POST /api/v1/hosts/:id/split": (context) =>
    context.targets("hosts").map(({ title, id, site, isReached }): Case => {
      const path = context.path.replace(":id", id);
      const body = { name: "split", port_ids: [UNKNOWN_ID] };
      if (!isReached || site === null) return { title, path, body, code: "entity_not_found" };
      return {
        title,
        path,
        body,
        code: null,
        prepare: async () => {
          const host = await disposableRecord(context, "hosts", site);
          const { id } = await expectOk(site.owner.post("ports", { host_id: host, number: 9, protocol: "Tcp" }));
          return { path: context.path.replace(":id", host), body: { name: `${site.word} split`, port_ids: [id] } };
        },
        check: ({ data }) => expect(data.actions.map(({ action }: JsonRecord) => action)).toContain("Moved"),
      };
    }),
  "POST /api/v1/discovery/ignored": (context) =>
    context.targets("ports").map(({ title, id, site, isReached }): Case => {
      const { path } = context;
      const body = { entity: "port", record_id: id };
      if (!isReached || site === null) return { title, path, body, code: "entity_reference_invalid" };
      return {
        title,
        path,
        body,
        code: null,
        prepare: async () => ({ path, body: { ...body, record_id: await disposableRecord(context, "ports", site) } }),
        check: ({ data }) => expect(data).toMatchObject({ entity: "port", network_id: site.networkId }),
      };
    }),
  "POST /api/v1/ip-addresses/:id/confirm": (context) =>
    context.targets("ip-addresses").map(({ title, id, site, isReached }): Case => {
      const path = context.path.replace(":id", id);
      if (!isReached || site === null) return { title, path, code: "entity_not_found" };
      const check = ({ data }: ApiResponse) => expect(data.credential_ids).toEqual([]);
      return { title, path, code: null, prepare: disposablePath(context, "ip-addresses", site), check };
    }),
  "GET /api/v1/credentials/:id/reach": (context) =>
    context.targets("credentials").map(
      ({ title, id, isReached }): Case => ({
        title,
        path: context.path.replace(":id", id),
        code: isReached ? null : "entity_not_found",
        check: ({ data }) =>
          expect(sorted(data.networks.map(({ network_id }: JsonRecord) => network_id))).toEqual(
            sorted(context.sites.filter((site) => context.reaches(site)).map(({ networkId }) => networkId)),
          ),
      }),
    ),
  "POST /api/v1/credentials/:id/try": (context) => {
    const tryCase = (title: string, id: string, networkId: string, code: Case["code"]): Case => ({
      title,
      path: context.path.replace(":id", id),
      body: { network_id: networkId, ip_address: "192.0.2.77" },
      code,
      ...(code === null ? { check: ({ data }: ApiResponse) => expect(data.network_id).toBe(networkId) } : {}),
    });
    // The organization's credential is assigned in each of its networks: a caller who reaches only some of them may not
    // send it anywhere.
    const isConfined = context.caller.networkIds !== null;
    const [own] = context.targets("credentials").filter(({ isReached }) => isReached);
    return [
      ...context
        .targets("credentials")
        .map(({ title, id, isReached }) =>
          tryCase(
            title,
            id,
            context.homeSite.networkId,
            !isReached ? "entity_not_found" : isConfined ? "entity_access_denied" : null,
          ),
        ),
      ...context.sites
        .filter((site) => !context.reaches(site))
        .map(({ name, networkId }) =>
          tryCase(`in the network of ${name}`, own?.id ?? UNKNOWN_ID, networkId, "entity_reference_invalid"),
        ),
    ];
  },
  "GET /api/v1/subnets/tree": (context) =>
    context.sites.flatMap(({ name, networkId }) =>
      context.instants().map(
        (instant): Case => ({
          title: `${name} ${instant.title}`,
          path: withQuery(context.path, `network_id=${networkId}`, instant.query),
          code: null,
          check: ({ data }) =>
            expect(sorted(idsOf(data))).toEqual(
              sorted(
                idsOf(
                  context.liveRecords("subnets", instant.sequence).filter((subnet) => subnet.network_id === networkId),
                ),
              ),
            ),
        }),
      ),
    ),
  // Addresses of a nested subnet are listed under that one.
  "GET /api/v1/subnets/:id/addresses": (context) =>
    atInstants(
      context,
      "subnets",
      ({ data }, { id, sequence }) => {
        const subnets = data.flatMap(({ subnet }: JsonRecord) => (subnet === null ? [] : [subnet.cidr]));
        const isOutsideSubnets = ({ ip_address }: JsonRecord) =>
          !subnets.some((cidr: string) => isIpWithin(ip_address, cidr));
        const liveRecords = context
          .liveRecords("ip-addresses", sequence)
          .filter((address) => address.subnet_id === id && isOutsideSubnets(address));
        expect(sorted(idsOf(data.flatMap(({ ip_addresses }: JsonRecord) => ip_addresses)))).toEqual(
          sorted(idsOf(liveRecords)),
        );
      },
      ["limit=0"],
    ),
  "GET /api/v1/subnets/:id/blocks": (context) =>
    atInstants(context, "subnets", ({ data }, { sequence }) => {
      const within = data.flatMap(({ subnet }: JsonRecord) => (subnet === null ? [] : [subnet.id]));
      const liveRecords = idsOf(context.liveRecords("subnets", sequence));
      expect(within.filter((id: string) => !liveRecords.includes(id))).toEqual([]);
      expect(data.length).toBeGreaterThan(0);
    }),
  "GET /api/v1/subnets/:id/free": (context) =>
    atInstants(
      context,
      "subnets",
      ({ data }, { id }) => expect([data.subnet_id, data.next.length > 0]).toEqual([id, true]),
      ["", "prefix_length=24&count=2"],
    ),
  "POST /api/v1/subnets/:id/allocate": (context) =>
    context.targets("subnets").flatMap(({ title, id, site, isReached }) => {
      const path = context.path.replace(":id", id);
      const word = site?.word ?? "zz";
      const code = isReached ? null : "entity_not_found";
      const cases: Case[] = [
        { title: `a reservation in ${title}`, path, body: { description: `${word} reserved` }, code },
        { title: `a subnet in ${title}`, path, body: { prefix_length: 30, name: `${word} subnet` }, code },
      ];
      // Hosts out of reach are reported as missing.
      for (const other of context.sites)
        if (isReached && other !== site)
          cases.push({
            title: `in ${title} to a host of ${other.name}`,
            path,
            body: { host_id: other.switchId },
            code: "entity_reference_invalid",
          });
      return cases;
    }),
  "GET /api/v1/networks/:id/map-positions": (context) => [
    ...context.sites.map(
      (site): Case => ({
        title: site.name,
        path: context.path.replace(":id", site.networkId),
        code: context.reaches(site) ? null : "entity_not_found",
        check: ({ data }) => expect(data.network_id).toBe(site.networkId),
      }),
    ),
    { title: "nothing", path: context.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "GET /api/v1/networks/:id/expiring": (context) => [
    ...context.sites.map(
      (site): Case => ({
        title: site.name,
        path: context.path.replace(":id", site.networkId),
        code: context.reaches(site) ? null : "entity_not_found",
        check: ({ data }) => expect(data.next.length).toBeLessThanOrEqual(20),
      }),
    ),
    { title: "nothing", path: context.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "PUT /api/v1/networks/:id/map-positions": (context) => [
    ...context.sites.flatMap((site) =>
      context.sites.map((other): Case => {
        const isReached = context.reaches(site);
        // Hosts out of reach are reported as missing.
        const refusal = other === site ? null : "entity_reference_invalid";
        const x = context.sites.indexOf(site);
        return {
          title: `a host of ${other.name} on the map of ${site.name}`,
          path: context.path.replace(":id", site.networkId),
          body: { nodes: { [other.switchId]: { x, y: -7 } } },
          code: isReached ? refusal : "entity_not_found",
          check: ({ data }) => expect(data.nodes[other.switchId]).toEqual({ x, y: -7, placed: "person" }),
        };
      }),
    ),
    {
      title: "nothing",
      path: context.path.replace(":id", UNKNOWN_ID),
      body: { nodes: { [UNKNOWN_ID]: null } },
      code: "entity_not_found",
    },
  ],
  "PUT /api/v1/tags/assign": (context) =>
    tagCases(context, (type, record) => ({ entity_type: type, entity_id: record.id, tag_ids: record.tags })),
  "POST /api/v1/tags/assign/bulk-add": (context) =>
    tagCases(context, (type, record, tagId) => ({ entity_type: type, entity_ids: [record.id], tag_id: tagId })),
  "POST /api/v1/tags/assign/bulk-remove": (context) =>
    tagCases(context, (type, record, tagId) => ({ entity_type: type, entity_ids: [record.id], tag_id: tagId }), true),
  "POST /api/v1/discovery/self": (context) =>
    context.sites.map(
      (site): Case => ({
        title: site.name,
        path: context.path,
        body: { network_id: site.networkId },
        code: context.reaches(site) ? null : "entity_reference_invalid",
      }),
    ),
  "GET /api/v1/discovery/scans": (context) => {
    const listCase = (title: string, query: string, matches: (site: Site) => boolean, isExpected = true): Case => ({
      title,
      path: withQuery(context.path, "limit=0", query),
      code: null,
      check: ({ data }) => {
        // Ignores scans requested by other cases in the meantime.
        const known = context.sites.map((site) => site.scanId);
        expect(sorted(idsOf(data)).filter((id) => known.includes(id))).toEqual(
          sorted(
            context.sites
              .filter((site) => isExpected && context.reaches(site) && matches(site))
              .map((site) => site.scanId),
          ),
        );
        const networks = context.sites
          .filter((site) => context.reaches(site) && matches(site))
          .map((site) => site.networkId);
        for (const scan of data) expect(networks).toContain(scan.network_id);
      },
    });
    return [
      ...context
        .instants()
        .map((instant) => listCase(instant.title, instant.query, () => true, instant.title !== context.fixture.early)),
      ...context.sites.map((site) =>
        listCase(`network_id of ${site.name}`, `network_id=${site.networkId}`, (listed) => listed === site),
      ),
      listCase("completed", "status=Completed&order_direction=desc", () => true),
      listCase("failed", "status=Failed", () => false),
    ];
  },
  "POST /api/v1/discovery/scans": (context) =>
    context.sites.flatMap((site): Case[] => {
      const isReached = context.reaches(site);
      const request = {
        path: context.path,
        body: { network_id: site.networkId, kind: "snmp" },
        code: isReached ? null : "entity_reference_invalid",
        afterwards: ({ status, data }: ApiResponse) =>
          status === 200 ? waitForScan(context.fixture.appliance, data.id).then(() => {}) : undefined,
      };
      const cases: Case[] = [{ title: site.name, ...request }];
      if (isReached)
        cases.push({
          title: `targets outside the subnets of ${site.name}`,
          ...request,
          body: { ...request.body, targets: [`10.${site.octet}.7.7`, `198.18.7.${site.octet}`] },
          role: "Admin",
        });
      if (isReached)
        cases.push({
          title: `targets in a subnet of ${site.name}`,
          ...request,
          body: { ...request.body, targets: [`10.${site.octet}.0.7`] },
        });
      return cases;
    }),
  "POST /api/v1/ip-addresses/:id/check": (context) =>
    context.targets("ip-addresses").map(
      ({ title, id, isReached }): Case => ({
        title,
        path: context.path.replace(":id", id),
        body: { kind: "sweep" },
        code: isReached ? null : "entity_not_found",
        afterwards: ({ status, data }: ApiResponse) =>
          status === 200 ? waitForScan(context.fixture.appliance, data.id).then(() => {}) : undefined,
      }),
    ),
  "GET /api/v1/discovery/scans/:id": (context) =>
    scanCases(context, ({ data }, site) =>
      expect(data).toMatchObject({ id: site.scanId, network_id: site.networkId, status: "Completed" }),
    ),
  "GET /api/v1/discovery/scans/:id/findings": (context) => [
    ...scanCases(context, ({ data }) => expect(data.length).toBeGreaterThan(0)),
    ...scanCases(context, ({ data }) => expect(data).toEqual([]), "type=Closed"),
  ],
  "GET /api/v1/discovery/scans/:id/events": (context) =>
    scanCases(context, ({ text }, site) => expect(text).toContain(site.scanId)),
  "POST /api/v1/discovery/scans/:id/cancel": (context) => [
    ...context.sites.map((site): Case => {
      const path = (id: string) => context.path.replace(":id", id);
      if (!context.reaches(site)) return { title: site.name, path: path(site.scanId), code: "entity_not_found" };
      // A queued scan that does not start.
      const { organizationId, networkId: network_id } = site;
      const author = { type: "System", id: null, name: "a test", organizationId, requestId: null } as const;
      const actor = { ...author, userId: null, role: "Owner", networkIds: null } as const;
      const options = { targets: null, commit: true, allow_large: false, schedule: null };
      const input = { network_id, kind: "snmp" as const, ...options };
      const prepare = async () => ({
        path: path((await context.fixture.appliance.writes.run("discovery.queue", input, actor)).result.id),
      });
      return {
        title: site.name,
        path: path(site.scanId),
        code: null,
        prepare,
        check: ({ data }) => expect(data.status).toBe("Cancelled"),
      };
    }),
    { title: "nothing", path: context.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "GET /api/v1/activity": (context) => {
    const { oracle } = context.fixture;
    return context.values("group_by").flatMap((grouping) =>
      [...changeFilters(context), { title: "all", query: "", matches: () => true }].map(
        ({ title, query, matches }): Case => ({
          title: `by ${grouping}, ${title}`,
          path: withQuery(context.path, `group_by=${grouping}`, grouping === "time" ? "" : "limit=1000", query),
          code: null,
          check: ({ data }) => {
            const countedVersions = oracle
              .countedVersions(context.caller, VISIBLE_KINDS, 0, oracle.head)
              .filter(matches)
              .filter(({ operation }) => grouping !== "field" || operation === "Updated");
            // Fields changed by an update beyond the caller's reach do not count.
            if (grouping !== "field" || context.caller.networkIds === null)
              expect(data.total).toBe(countedVersions.length);
            else expect(data.total).toBeLessThanOrEqual(countedVersions.length);
            if (grouping !== "field")
              expect(data.groups.reduce((sum: number, group: JsonRecord) => sum + group.total, 0)).toBe(data.total);
            if (grouping !== "record") return;
            expect(sorted(idsOf(data.groups))).toEqual(sorted([...new Set(countedVersions.map(({ id }) => id))]));
            expect(data.groups.every((group: JsonRecord) => group.name !== null)).toBe(true);
          },
        }),
      ),
    );
  },
  "GET /api/v1/summary": (context) =>
    networkReads(context, "", ({ data }, { site, liveRecords, sequence }) => {
      const { oracle } = context.fixture;
      for (const [kind, count] of Object.entries(data.counts)) {
        const within = liveRecords(kind).filter((record) => site === null || record.network_id === site.networkId);
        expect([kind, count]).toEqual([kind, within.length]);
      }
      const after = oracle.sequenceAt(data.from);
      const isWithin = ({ id }: { id: string }) => site === null || oracle.find(id)?.networkId === site.networkId;
      const countedVersions = oracle.countedVersions(context.caller, VISIBLE_KINDS, after, sequence).filter(isWithin);
      const { created, updated, deleted } = data.changes;
      expect(created + updated + deleted).toBe(countedVersions.length);
      for (const { id } of [...data.new, ...data.vanished, ...data.flapping.ports, ...data.stale.hosts])
        expect(countedVersions.some((change) => change.id === id)).toBe(true);
    }),
  "GET /api/v1/conflicts": (context) =>
    networkReads(context, "limit=0", ({ data }, { site, liveRecords }) => {
      for (const { network_ids, parties } of data as JsonRecord[]) {
        if (site !== null) expect(network_ids).toContain(site.networkId);
        for (const { entity_type, id } of parties) expect(idsOf(liveRecords(entity_type))).toContain(id);
      }
      const reported = (data as JsonRecord[]).filter(({ type, value }) => type === "Address" && /^10\./.test(value));
      expect(sorted(reported.map(({ network_ids, value }) => `${network_ids[0]} ${value}`))).toEqual(
        sorted(sharedAddresses(liveRecords, site).map(([key]) => key)),
      );
    }),
  "GET /api/v1/conflicts/export/csv": (context) =>
    networkReads(context, "", ({ text }, { site, liveRecords }) => {
      const rows = csvRecords(text);
      for (const { entity_type, id, host_id, network_id, network_name } of rows) {
        expect(idsOf(liveRecords(entity_type as string))).toContain(id as string);
        if (host_id !== "") expect(idsOf(liveRecords("host"))).toContain(host_id as string);
        expect(liveRecords("network").find(({ id }) => id === network_id)?.name).toBe(network_name);
      }
      const reported = rows.filter(({ type, value }) => type === "Address" && /^10\./.test(value as string));
      const shared = sharedAddresses(liveRecords, site);
      expect(sorted(reported.map(({ network_id, value, id }) => `${network_id} ${value} ${id}`))).toEqual(
        sorted(shared.flatMap(([key, found]) => found.map(({ host_id }) => `${key} ${host_id}`))),
      );
    }),
  "POST /api/v1/conflicts/acceptances": (context) => [
    ...context.sites.map((site): Case => {
      const prepare = async () => ({ body: await createConflict(site) });
      if (!context.reaches(site)) return { title: site.name, path: context.path, code: "entity_stale", prepare };
      return {
        title: site.name,
        path: context.path,
        code: null,
        prepare,
        check: ({ data }) => expect(data.network_ids).toEqual([site.networkId]),
      };
    }),
  ],
  "DELETE /api/v1/conflicts/acceptances/:id": (context) => [
    ...context.sites.map((site): Case => {
      const prepare = async () => {
        const { data } = await site.owner.post("conflicts/acceptances", await createConflict(site));
        return { path: context.path.replace(":id", data.id) };
      };
      return {
        title: site.name,
        path: context.path.replace(":id", UNKNOWN_ID),
        code: context.reaches(site) ? null : "entity_not_found",
        prepare,
      };
    }),
    { title: "nothing", path: context.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "GET /api/v1/changes": (context) => {
    const { oracle, middle } = context.fixture;
    const changesCase = (
      title: string,
      query: string,
      after: number,
      matches: (version: { kind: string; id: string }) => boolean,
    ): Case => ({
      title,
      path: withQuery(context.path, "limit=1000", `after=${after}`, query),
      code: null,
      check: ({ data, body }) => {
        const until = body.meta.feed.after;
        const expected = oracle.versions(context.caller, VISIBLE_KINDS, after, until).filter(matches);
        const describe = (change: { id: string; sequence: number; operation: string }) =>
          `${change.sequence} ${change.id} ${change.operation}`;
        const found = data.map((change: JsonRecord) =>
          describe({ id: change.record.id, sequence: change.transaction.sequence, operation: change.operation }),
        );
        expect(sorted(found)).toEqual(sorted(expected.map(describe)));
        expect(body.meta.feed.has_more || until === oracle.head).toBe(true);
      },
    });
    return [
      changesCase("all", "", 0, () => true),
      changesCase("since then", "", oracle.sequenceAt(middle), () => true),
      ...context.values("types").map((type) => changesCase(type, `types=${type}`, 0, ({ kind }) => kind === type)),
      ...context.sites.map((site) =>
        changesCase(
          `network_id of ${site.name}`,
          `network_id=${site.networkId}`,
          0,
          ({ id }) => oracle.find(id)?.networkId === site.networkId,
        ),
      ),
      {
        title: "after a position in other data",
        path: withQuery(context.path, "after=1", "mark=00000000"),
        code: "validation_failed",
      },
      {
        title: "one at a time",
        path: withQuery(context.path, "limit=1"),
        code: null,
        check: ({ data }) =>
          expect(data.length > 0).toBe(oracle.versions(context.caller, VISIBLE_KINDS, 0, oracle.head).length > 0),
      },
    ];
  },
  "GET /api/v1/diff": (context) => {
    const { fixture, caller } = context;
    const { oracle, early, middle, late } = fixture;
    const diffCase = (
      title: string,
      from: string,
      to: string,
      query: string,
      types: readonly string[],
      matches: (record: JsonRecord) => boolean = () => true,
    ): Case => ({
      title,
      path: withQuery(context.path, `from=${from}&to=${to}`, query),
      code: null,
      check: ({ data }) => {
        const liveAt = (instant: string) => {
          const sequence = oracle.sequenceAt(instant);
          return new Set(idsOf(types.flatMap((kind) => oracle.liveRecords(caller, kind, sequence).filter(matches))));
        };
        const [before, after] = [liveAt(from), liveAt(to)];
        const expectedIds = (changeType: string, ids: readonly string[]) =>
          !query.includes("change=") || query === `change=${changeType}` ? sorted(ids) : [];
        const added = [...after].filter((id) => !before.has(id));
        const removed = [...before].filter((id) => !after.has(id));
        expect(sorted(idsOf(data.added))).toEqual(expectedIds("added", added));
        expect(sorted(idsOf(data.removed))).toEqual(expectedIds("removed", removed));
        for (const id of idsOf(data.changed)) expect(before.has(id) && after.has(id)).toBe(true);
        const counts = Object.values(data.counts as Record<string, Record<string, number>>).reduce(
          (sum, byOperation) => sum + Object.values(byOperation).reduce((a, b) => a + b, 0),
          0,
        );
        expect(counts).toBe(data.added.length + data.removed.length + data.changed.length);
      },
    });
    const inNetwork = (site: Site) => (record: JsonRecord) =>
      record.network_id === site.networkId || record.id === site.networkId;
    // Not shown: the ignored records of a host.
    const inHost = (site: Site) => (record: JsonRecord) =>
      (record.record_id === undefined && record.host_id === site.records.hosts?.id) ||
      record.id === site.records.hosts?.id;
    return [
      diffCase("from the beginning", early, late, "", VISIBLE_KINDS),
      diffCase("since then", middle, late, "", VISIBLE_KINDS),
      diffCase("until then", early, middle, "", VISIBLE_KINDS),
      ...context.values("types").map((type) => diffCase(type, early, late, `types=${type}`, [type])),
      diffCase("without the names", middle, late, "ignore=name,tags", VISIBLE_KINDS),
      ...context
        .values("change")
        .map((changeType) => diffCase(changeType, middle, late, `change=${changeType}`, VISIBLE_KINDS)),
      ...context.sites.flatMap((site) => [
        diffCase(
          `network_id of ${site.name}`,
          early,
          late,
          `network_id=${site.networkId}`,
          VISIBLE_KINDS,
          inNetwork(site),
        ),
        diffCase(
          `host_id of ${site.name}`,
          early,
          late,
          `host_id=${site.records.hosts?.id}`,
          VISIBLE_KINDS,
          inHost(site),
        ),
        diffCase(
          `ids of ${site.name}`,
          early,
          late,
          `ids=${site.networkId},${site.records.hosts?.id}`,
          VISIBLE_KINDS,
          ({ id }) => id === site.networkId || id === site.records.hosts?.id,
        ),
        diffCase(
          `filter for ${site.name}`,
          early,
          late,
          `types=host&filter=${encodeURIComponent(`network_id = "${site.networkId}"`)}`,
          ["host"],
          inNetwork(site),
        ),
      ]),
      ...context.values("format").map(
        (format): Case => ({
          title: `as ${format}`,
          path: withQuery(context.path, `from=${early}&format=${format}`),
          code: null,
        }),
      ),
    ];
  },
  "GET /api/v1/transactions": (context) => {
    const { oracle } = context.fixture;
    const visible = (until: number) =>
      [
        ...new Set(oracle.versions(context.caller, VISIBLE_KINDS, 0, until).map((version) => version.sequence)),
      ].reverse();
    const byReason = context.sites.flatMap((site) =>
      context.instants().map(
        (instant): Case => ({
          title: `${instant.title}, for a reason of ${site.name}`,
          path: withQuery(context.path, `limit=0&reason=${site.word.toUpperCase()}`, instant.query),
          code: null,
          check: ({ data, body }) => {
            const sequences = visible(Math.min(instant.sequence, oracle.head)).filter((sequence) =>
              oracle.reasonOf(sequence)?.includes(site.word),
            );
            if (context.reaches(site) && instant.query === "") expect(sequences.length).toBeGreaterThan(5);
            expect(data.map((transaction: JsonRecord) => transaction.sequence)).toEqual(sequences);
            expect(body.meta.pagination.total_count).toBe(sequences.length);
          },
        }),
      ),
    );
    const all = context.instants().flatMap((instant) =>
      ["limit=1000", "limit=0", "limit=2&offset=1", "limit=0&include=highlights"].map(
        (page): Case => ({
          title: `${instant.title}, ${page}`,
          path: withQuery(context.path, page, instant.query),
          code: null,
          check: ({ data, body }) => {
            const sequences = visible(Math.min(instant.sequence, oracle.head));
            const expectedPage = page.includes("offset")
              ? sequences.slice(1, 3)
              : page === "limit=1000"
                ? sequences.slice(0, 1_000)
                : sequences;
            expect(data.map((transaction: JsonRecord) => transaction.sequence)).toEqual(expectedPage);
            expect(body.meta.pagination.total_count).toBe(sequences.length);
          },
        }),
      ),
    );
    const filtered = changeFilters(context).map(
      ({ title, query, matches }): Case => ({
        title,
        path: withQuery(context.path, "limit=0&order_direction=asc", query),
        code: null,
        check: ({ data, body }) => {
          const countedVersions = oracle.countedVersions(context.caller, VISIBLE_KINDS, 0, oracle.head).filter(matches);
          const sequences = [...new Set(countedVersions.map((version) => version.sequence))];
          expect(data.map((transaction: JsonRecord) => transaction.sequence)).toEqual(sequences);
          expect(body.meta.pagination.total_count).toBe(sequences.length);
        },
      }),
    );
    return [...all, ...byReason, ...filtered];
  },
  "GET /api/v1/transactions/:sequence": (context) =>
    transactionTargets(context).map(
      ({ title, sequence, isReached }): Case => ({
        title,
        path: context.path.replace(":sequence", String(sequence)),
        code: isReached ? null : "entity_not_found",
        check: ({ data }) => expect(data).toMatchObject({ sequence, changes: { subnet: { Updated: 1 } } }),
      }),
    ),
  "POST /api/v1/transactions/:sequence/revert": (context) => [
    // Written by the Owner: a Member may revert only "a transaction of their own".
    ...transactionTargets(context).map(
      ({ title, sequence, isReached }): Case => ({
        title,
        path: context.path.replace(":sequence", String(sequence)),
        body: { dry_run: true },
        code: isReached ? null : "entity_not_found",
        ...(isReached ? { role: "Admin" } : {}),
        check: ({ data }) => expect(data.actions).toMatchObject([{ entity_type: "subnet", action: "Update" }]),
      }),
    ),
    ...context.sites.filter((site) => context.reaches(site)).map((site) => ownTransaction(context, site)),
  ],
  "GET /api/v1/fields/:kind": ({ path }) =>
    ["host", "api_key"].map((kind) => ({ title: kind, path: path.replace(":kind", kind), code: null })),
  "GET /api/v1/hosts/:id/faceplate": (context) =>
    atInstants(context, "hosts", ({ data }, { id }) => expect(data.host.id).toBe(id)),
  "GET /api/v1/hosts/:id/identity": (context) =>
    atInstants(context, "hosts", ({ data }, { id }) => expect(data.host_id).toBe(id)),
  "GET /api/v1/stations": (context) =>
    networkReads(context, "limit=0", ({ data }, { site, liveRecords }) => {
      const [hosts, ports, networks] = ["host", "if_entry", "network"].map((kind) => idsOf(liveRecords(kind)));
      for (const { network_id, switch: device, port, hosts: owners } of data as JsonRecord[]) {
        expect(networks).toContain(network_id);
        if (site !== null) expect(network_id).toBe(site.networkId);
        expect(hosts).toContain(device.id);
        expect(ports).toContain(port.id);
        for (const owner of owners) expect(hosts).toContain(owner.id);
      }
    }),
  "GET /api/v1/discovery/withheld": (context) =>
    networkReads(context, "limit=0", ({ data }, { site, liveRecords }) => {
      for (const { type, id, network_id, host, credentials } of data as JsonRecord[]) {
        expect(idsOf(liveRecords("network"))).toContain(network_id);
        if (site !== null) expect(network_id).toBe(site.networkId);
        expect(idsOf(liveRecords(type === "Subnet" ? "subnet" : "ip_address"))).toContain(id);
        if (host !== null) expect(idsOf(liveRecords("host"))).toContain(host.id);
        for (const credential of credentials) expect(idsOf(liveRecords("credential"))).toContain(credential.id);
      }
    }),
  "GET /api/v1/discovery/withheld/export/csv": (context) =>
    networkReads(context, "", ({ text }, { site, liveRecords }) => {
      for (const row of csvRecords(text)) {
        if (site !== null) expect(row.network_id).toBe(site.networkId);
        expect(liveRecords("network").find(({ id }) => id === row.network_id)?.name).toBe(row.network_name);
        expect(idsOf(liveRecords(row.type === "Subnet" ? "subnet" : "ip_address"))).toContain(row.id as string);
        if (row.host_id !== "") expect(idsOf(liveRecords("host"))).toContain(row.host_id as string);
        for (const id of `${row.credential_ids}`.split(";")) expect(idsOf(liveRecords("credential"))).toContain(id);
      }
    }),
  "GET /api/v1/stations/export/csv": (context) =>
    networkReads(context, "", ({ text }, { site, liveRecords }) => {
      for (const row of csvRecords(text)) {
        const own = [row.switch_id, ...`${row.host_ids}`.split(";").filter((id) => id !== "")];
        for (const id of own) expect(idsOf(liveRecords("host"))).toContain(id as string);
        expect(idsOf(liveRecords("if_entry"))).toContain(row.port_id as string);
        expect(liveRecords("network").find(({ id }) => id === row.network_id)?.name).toBe(row.network_name);
        if (site !== null) expect(row.network_id).toBe(site.networkId);
      }
    }),
  "GET /api/v1/discovery/self": ({ path }) => [{ title: "this machine", path, code: null }],
  "GET /api/v1/discovery/schedules/due": ({ path }) => [
    { title: "of an expression", path: withQuery(path, "cron=@hourly"), code: null },
  ],
  "GET /api/v1/vendors/:mac": ({ path }) =>
    ["00:1b:21:aa:bb:cc", "ffffff"].map((mac) => ({ title: mac, path: path.replace(":mac", mac), code: null })),
  // Every caller may read the ledger head: it is meant to be recorded elsewhere.
  "GET /api/v1/ledger": ({ path, fixture }) => [
    { title: "plain", path, code: null, check: ({ data }) => expect(data.sequence).toBe(fixture.oracle.head) },
  ],
  "GET /api/v1/locate": (context) => locateCases(context, ({ data }) => data.candidates),
  "GET /api/v1/search": (context) =>
    locateCases(
      context,
      ({ data }) => data,
      (key) => key.replace(/^\w+=/, "q="),
    ),
  "GET /api/v1/locate/timeline": (context) => locateCases(context, ({ data }) => data.intervals),
  "GET /api/v1/topology": (context) => [
    ...context.sites.flatMap((site): Case[] => {
      const { oracle } = context.fixture;
      const overTime = (query: string, ...more: string[]) =>
        withQuery(context.path, "from=1999-12-31T23:59:59Z", query, ...more);
      /** Every host that a list ever returned for the network. */
      const everListed = () => {
        const versions = oracle.versions(context.caller, ["host"], 0, oracle.head);
        return new Set(versions.filter(({ fields }) => fields?.network_id === site.networkId).map(({ id }) => id));
      };
      return [
        {
          title: `${site.name} over time, all of it`,
          path: overTime(`network_id=${site.networkId}`, "include_isolated=true"),
          code: null,
          check: (response) => expect(sorted(knownHostIds(response))).toEqual(sorted([...everListed()])),
        },
        ...context.targets("hosts").map(
          ({ id }): Case => ({
            title: `${site.name} over time around the host ${id}`,
            path: overTime(`network_id=${site.networkId}`, `host_id=${id}`, "hops=2"),
            code: null,
            check: (response) => {
              const known = everListed();
              expect(knownHostIds(response).includes(id)).toBe(known.has(id));
              expect(knownHostIds(response).every((hostId) => known.has(hostId))).toBe(true);
            },
          }),
        ),
      ];
    }),
    ...context.sites.flatMap((site) =>
      context.instants().flatMap((instant) => {
        const path = (...more: string[]) =>
          withQuery(context.path, `network_id=${site.networkId}`, instant.query, ...more);
        const hosts = context.fixture.oracle
          .liveRecords(context.caller, "host", instant.sequence)
          .filter((host) => host.network_id === site.networkId);
        const check = (response: ApiResponse) => {
          expect(sorted(knownHostIds(response))).toEqual(sorted(idsOf(hosts)));
          expect(response.data.links.length > 0).toBe(hosts.length > 0);
        };
        const title = `${site.name} ${instant.title}`;
        return [
          { title: `${title}, all of it`, path: path("include_isolated=true"), code: null, check },
          ...context.targets("hosts").map(({ id }): Case => {
            const isAtSite = hosts.some((host) => host.id === id);
            return {
              title: `${title} around the host ${id}`,
              path: path(`host_id=${id}`, "hops=10"),
              code: null,
              check: (response) => {
                const known = knownHostIds(response);
                expect(known.includes(id)).toBe(isAtSite);
                expect(known.every((hostId) => hosts.some((host) => host.id === hostId))).toBe(true);
              },
            };
          }),
          ...context
            .values("format")
            .map((format): Case => ({ title: `${title} as ${format}`, path: path(`format=${format}`), code: null })),
        ];
      }),
    ),
  ],
  // Backups contain everything: a caller limited to some networks has no access.
  "GET /api/v1/backups": ({ path, caller }) => [{ title: "plain", path, code: allNetworksCode(caller, null) }],
  "POST /api/v1/backups": ({ path, caller }) => [
    { title: "taken", path, body: {}, code: allNetworksCode(caller, null) },
  ],
  "GET /api/v1/backups/:name": ({ path, caller }) => [
    { title: "none", path: path.replace(":name", MISSING_BACKUP), code: allNetworksCode(caller, "entity_not_found") },
  ],
  "POST /api/v1/backups/:name/download": (context) =>
    twoOrganizationsCases(context).map((refused) => ({ ...refused, body: { password: PASSWORD } })),
  "GET /api/v1/retention/preview": ({ path }) => [
    { title: "of two organizations", path: `${path}?before=-1d`, code: "auth_permission_denied" },
  ],
  "GET /api/v1/log": twoOrganizationsCases,
  "GET /api/v1/appliance": twoOrganizationsCases,
  "GET /api/v1/licences": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/v1/bill-of-materials": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/v1/ledger/verifications": twoOrganizationsCases,
  "POST /api/v1/ledger/verifications": twoOrganizationsCases,
  "GET /api/v1/ledger/verifications/:id": twoOrganizationsCases,
  "POST /api/v1/ledger/verifications/:id/cancel": twoOrganizationsCases,
  "POST /api/v1/backups/:name/verify": twoOrganizationsCases,
  "DELETE /api/v1/backups/:name": twoOrganizationsCases,
};

function twoOrganizationsCases({ path }: CallContext): Case[] {
  const missing = path.replace(":id", UNKNOWN_ID).replace(":name", MISSING_BACKUP);
  return [{ title: "of two organizations", path: missing, code: "auth_permission_denied" }];
}

function allNetworksCode(caller: Caller, code: string | null): string | null {
  return caller.networkIds === null ? code : "auth_permission_denied";
}

/** Ids of a topology's known hosts. */
function knownHostIds({ data }: ApiResponse): string[] {
  return idsOf(data.nodes.filter((node: JsonRecord) => node.kind === "Known"));
}

/** Reads of all networks and of each one, at every timestamp, with the records visible to the caller at that time. */
function networkReads(
  context: CallContext,
  query: string,
  check: (
    response: ApiResponse,
    known: { site: Site | null; sequence: number; liveRecords: (kind: string) => JsonRecord[] },
  ) => void,
): Case[] {
  const { oracle } = context.fixture;
  return context.instants().flatMap((instant) =>
    [null, ...context.sites].map((site): Case => {
      const network = site === null ? "" : `network_id=${site.networkId}`;
      return {
        title: `${instant.title}, of ${site?.name ?? "all"}`,
        path: withQuery(context.path, query, network, instant.query),
        code: null,
        check: (response) => {
          const sequence = Math.min(instant.sequence, oracle.head);
          const liveRecords = (kind: string) => oracle.liveRecords(context.caller, kind, sequence);
          check(response, { site, sequence, liveRecords });
        },
      };
    }),
  );
}

/** Reads of each target at every timestamp. */
function atInstants(
  context: CallContext,
  plural: string,
  check: (response: ApiResponse, known: { id: string; sequence: number }) => void,
  queries: readonly string[] = [""],
): Case[] {
  return context.targets(plural).flatMap(({ title, id, isReached }) =>
    context.instants().flatMap((instant) =>
      queries.map(
        (query): Case => ({
          title: `${title} ${instant.title} ${query}`,
          path: withQuery(context.path.replace(":id", id), query, instant.query),
          code: isReached && instant.title !== context.fixture.early ? null : "entity_not_found",
          check: (response) => check(response, { id, sequence: instant.sequence }),
        }),
      ),
    ),
  );
}

/** Addresses that several hosts share within one network, by `network_id ip_address`. */
function sharedAddresses(
  liveRecords: (kind: string) => JsonRecord[],
  site: Site | null,
): Array<[string, JsonRecord[]]> {
  const holders = Map.groupBy(
    liveRecords("ip_address").filter(({ ip_address }) => /^10\./.test(ip_address)),
    ({ network_id, ip_address }) => `${network_id} ${ip_address}`,
  );
  return [...holders].filter(
    ([key, found]) => found.length > 1 && (site === null || key.startsWith(`${site.networkId} `)),
  );
}

/** Reads of each site's scan, now and at other timestamps. */
function scanCases(context: CallContext, check: (response: ApiResponse, site: Site) => void, query = ""): Case[] {
  const cases = context.sites.flatMap((site) =>
    readableInstants(context).map(
      (instant): Case => ({
        title: `${site.name}, ${instant.title}`,
        path: withQuery(context.path.replace(":id", site.scanId), query, instant.query),
        code: context.reaches(site) && instant.title !== context.fixture.early ? null : "entity_not_found",
        check: (response) => check(response, site),
      }),
    ),
  );
  return [...cases, { title: "nothing", path: context.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" }];
}

function transactionTargets(context: CallContext): Array<{ title: string; sequence: number; isReached: boolean }> {
  return [
    ...context.sites.map((site) => ({ title: site.name, sequence: site.sequence, isReached: context.reaches(site) })),
    { title: "a future one", sequence: 2_000_000_000, isReached: false },
  ];
}

/** The caller's own transaction at a site, which a Member may revert as well. */
function ownTransaction({ path, caller, fixture }: CallContext, site: Site): Case {
  return {
    title: `their own in ${site.name}`,
    path: path.replace(":sequence", "2000000000"),
    body: { dry_run: true },
    code: null,
    prepare: async () => {
      const subnet = { id: site.records.subnets?.id, cidr: site.records.subnets?.cidr, network_id: site.networkId };
      const description = `seen by ${caller.name} at ${fixture.oracle.head}`;
      await caller.client.put(`subnets/${subnet.id}`, { ...subnet, name: site.records.subnets?.name, description });
      return { path: path.replace(":sequence", String(fixture.oracle.head)) };
    },
    check: ({ data }) => expect(data.actions).toMatchObject([{ entity_type: "subnet", fields: ["description"] }]),
  };
}

/** Timestamps that the operation accepts; only the current time if it has no `at`. */
function readableInstants(context: CallContext): ReturnType<CallContext["instants"]> {
  return context.instants().slice(0, context.hasParameter("at") ? undefined : 1);
}

/** Searches by each key of a record, in every scope. */
function locateCases(
  context: CallContext,
  resultsOf: (response: ApiResponse) => readonly unknown[],
  queryOf = (key: string) => key,
): Case[] {
  return context.sites.flatMap((site) =>
    [
      `mac=02:00:00:${site.octet.toString(16)}:00:01`,
      `ip=10.${site.octet}.0.1`,
      `hostname=${site.word}-station.example`,
    ].flatMap((key) =>
      ["", `network_id=${site.networkId}`, `network_id=${context.homeSite.networkId}`].flatMap((scope) =>
        readableInstants(context).map((instant): Case => {
          const isReached = context.reaches(site) && (scope === "" || scope.endsWith(site.networkId));
          const isFound = isReached && instant.title !== context.fixture.early;
          return {
            title: `${key} ${scope} ${instant.title}`,
            path: withQuery(context.path, queryOf(key), scope, instant.query),
            code: null,
            check: (response) => expect(resultsOf(response).length > 0).toBe(isFound),
          };
        }),
      ),
    ),
  );
}

/** Tag assignments, which require permission to write the tagged record. */
function tagCases(
  context: CallContext,
  bodyFor: (type: string, record: JsonRecord, tagId: string) => JsonRecord,
  isRemoval = false,
): Case[] {
  const cases: Case[] = [];
  for (const site of context.sites) {
    const tagId = site.records.tags?.id;
    for (const [type, plural, role] of [
      ["host", "hosts", "Member"],
      ["service", "services", "Member"],
      ["subnet", "subnets", "Member"],
      ["network", "networks", "Admin"],
      ["credential", "credentials", "Admin"],
    ] as const) {
      if (plural === "credentials" && site.name === "far") continue;
      const isReached = plural === "credentials" ? context.isOwn(site) : context.reaches(site);
      const record = site.records[plural] as JsonRecord;
      const code = isReached ? null : "entity_reference_invalid";
      const unchanged: Case = {
        title: `a ${type} of ${site.name}`,
        path: context.path,
        body: bodyFor(type, record, tagId),
        code,
        role,
      };
      // Other requests rely on the records detached here.
      const isShared = plural === "credentials" && context.caller.networkIds !== null;
      cases.push(
        isReached && isRemoval && plural !== "networks"
          ? {
              ...unchanged,
              code: isShared ? "entity_access_denied" : null,
              prepare: async () => ({
                body: bodyFor(type, { id: await disposableRecord(context, plural, site) }, tagId),
              }),
            }
          : unchanged,
      );
    }
  }
  for (const { title, id, site, isReached, role } of context.targets("auth/keys")) {
    const body = bodyFor("api_key", { id, tags: [] }, (site ?? context.homeSite).records.tags?.id);
    cases.push({
      title: `the key ${title}`,
      path: context.path,
      body,
      code: isReached ? null : "entity_reference_invalid",
      sessionOnly: true,
      ...(isReached && role !== undefined ? { role } : {}),
    });
  }
  return cases;
}

type CountedVersion = ReturnType<LedgerOracle["countedVersions"]>[number];

/** All filters of a change list, each with the counted changes it must return. */
function changeFilters(
  context: CallContext,
): Array<{ title: string; query: string; matches: (change: CountedVersion) => boolean }> {
  const { oracle } = context.fixture;
  const isPartOf = (kinds: readonly string[], field: string, record: string | undefined) => (change: CountedVersion) =>
    change.id === record ||
    (kinds.includes(change.kind) &&
      oracle.find(change.id)?.versions.some((version) => version.fields?.[field] === record) === true);
  const changeFilter = (title: string, query: string, matches: (change: CountedVersion) => boolean) => {
    return { title, query, matches };
  };
  const hostParts = ["ip_address", "port", "service", "binding", "if_entry", "component"];
  const perSite = context.sites.flatMap(({ name, networkId, records: { hosts, subnets, ports } }) => [
    changeFilter(
      `network_id of ${name}`,
      `network_id=${networkId}`,
      (change) => oracle.find(change.id)?.networkId === networkId,
    ),
    changeFilter(`host_id of ${name}`, `host_id=${hosts?.id}`, isPartOf(hostParts, "host_id", hosts?.id)),
    changeFilter(
      `subnet_id of ${name}`,
      `subnet_id=${subnets?.id}`,
      isPartOf(["ip_address", "ip_range"], "subnet_id", subnets?.id),
    ),
    changeFilter(`id of ${name}`, `id=${ports?.id}`, ({ id }) => id === ports?.id),
  ]);
  const perType = context
    .values("types")
    .map((type) => changeFilter(type, `types=${type}`, ({ kind }) => kind === type));
  return [...perSite, ...perType];
}

/** The session id of a client. */
async function sessionOf(client: Client): Promise<string> {
  const sessions = (await client.get("/api/auth/sessions")).data as JsonRecord[];
  return sessions.find(({ is_current }) => is_current)?.id;
}

function headersOf(client: Client): Record<string, string> {
  return (client as unknown as { headers: Record<string, string> }).headers;
}

/** Creates an address conflict of two hosts at a site. @returns the body that accepts it */
async function createConflict(site: Site): Promise<JsonRecord> {
  const ip_address = `10.${site.octet}.0.222`;
  const find = async () => {
    const { data } = await site.owner.get(`conflicts?limit=0&type=Address&network_id=${site.networkId}`);
    return (data as JsonRecord[]).find(({ value }) => value === ip_address);
  };
  if ((await find()) === undefined)
    for (const name of ["one", "two"])
      await site.owner.post("hosts", {
        network_id: site.networkId,
        name: `${site.word} twin ${name}`,
        ip_addresses: [{ ip_address, subnet_id: site.records.subnets?.id }],
      });
  const { type, value, fingerprint } = (await find()) as JsonRecord;
  return { type, value, fingerprint };
}
