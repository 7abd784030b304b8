// Authorization test cases for operations outside the standard set: sign-in, tags, bulk, changes, locate, backups.

import { expect } from "bun:test";
import { isIpWithin } from "../../../src/base/ip.ts";
import { PASSWORD, SETUP_TOKEN } from "../appliance/appliance.ts";
import type { Answer, Client } from "../appliance/client.ts";
import { made, newUser, type Wire } from "../appliance/factories.ts";
import { untilEnded } from "../appliance/scans.ts";
import { csvRecords } from "../contract/csv.ts";
import { type Asking, type Case, idsOf, sorted, UNKNOWN_ID, withQuery } from "./asking.ts";
import { bodyOf, victim } from "./bodies.ts";
import { STANDARD } from "./contract.ts";
import type { LedgerOracle } from "./oracle.ts";
import type { Caller, Place } from "./world.ts";

/** Kinds shown in changes: all except keys, and except child kinds, which show in their parents. */
const SHOWN = [
  "organization",
  ...Object.values(STANDARD)
    .filter(({ read }) => read.sessionOnly !== true)
    .map(({ entity }) => entity),
];

/** By registered method and path. */
export const SPECIAL_CASES: Readonly<Record<string, (asking: Asking) => Case[]>> = {
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
  "POST /api/auth/login": ({ path, world }) => [
    {
      title: "as the Owner",
      path,
      body: { email: "owner@first.example", password: PASSWORD },
      headers: { cookie: "" },
      code: null,
      eyes: { ...world.places.near, networkIds: null },
    },
  ],
  "POST /api/auth/logout": ({ path, world, caller }) => [
    {
      title: "from a disposable session",
      path,
      code: null,
      fresh: async () => ({ headers: headersOf(await world.appliance.signedIn(caller.userId)) }),
    },
  ],
  "GET /api/auth/sessions": ({ path }) => [
    {
      title: "plain",
      path,
      code: null,
      check: ({ data }) => expect(data.filter((each: Wire) => each.is_current)).toHaveLength(1),
    },
  ],
  "DELETE /api/auth/sessions/:id": ({ path, world, caller }) => [
    { title: "an unknown session", path: path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
    {
      title: "a disposable session of their own",
      path,
      code: null,
      fresh: async () => ({
        path: path.replace(":id", await sessionOf(await world.appliance.signedIn(caller.userId))),
      }),
    },
    {
      title: "another user's session",
      path,
      code: "entity_not_found",
      fresh: async () => {
        const { id } = await newUser(world.appliance, { role: "Viewer" });
        return { path: path.replace(":id", await sessionOf(await world.appliance.signedIn(id))) };
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
  "POST /api/auth/sessions/end-others": ({ path, world, caller }) => [
    {
      title: "of a user with disposable sessions",
      path,
      code: null,
      fresh: async () => {
        const { id } = await newUser(world.appliance, { role: caller.role });
        await world.appliance.signedIn(id);
        return { headers: headersOf(await world.appliance.signedIn(id)) };
      },
      check: ({ data }) => expect(data.ended).toBeGreaterThan(0),
    },
  ],
  "PUT /api/auth/password": ({ path }) => [
    { title: "to what it is", path, body: { current_password: PASSWORD, new_password: PASSWORD }, code: null },
  ],
  "GET /api/auth/me": (asking) => {
    const { caller, world, path } = asking;
    const check = ({ data }: Answer) => {
      expect(data).toMatchObject({
        id: caller.userId,
        organization_id: caller.organizationId,
        effective_role: caller.role,
      });
      expect(sorted(data.reachable_network_ids)).toEqual(
        sorted(idsOf(world.oracle.living(caller, "network", world.oracle.head))),
      );
    };
    return [{ title: "plain", path, code: null, check }];
  },
  "POST /api/v1/auth/keys/:id/rotate": (asking) =>
    asking.targets("auth/keys").map(({ title, id, place, isReached, role }): Case => {
      const path = asking.path.replace(":id", id);
      if (!isReached || place === null) return { title, path, body: {}, code: "entity_not_found" };
      return {
        title,
        path,
        body: {},
        code: null,
        ...(role === undefined ? {} : { role }),
        fresh: async () => ({ path: asking.path.replace(":id", await victim(asking, "auth/keys", place, role)) }),
      };
    }),
  "GET /api/v1/organizations": (asking) =>
    asking.instants().map(
      (instant): Case => ({
        title: instant.title,
        path: withQuery(asking.path, instant.query),
        code: instant.title === asking.world.early ? "entity_not_found" : null,
        check: ({ data }) => expect(data.id).toBe(asking.caller.organizationId),
      }),
    ),
  "PUT /api/v1/organizations": ({ path, caller }) => [
    {
      title: "as it is",
      path,
      body: { name: "zzsomething" },
      code: null,
      fresh: async () => ({ body: (await caller.client.get(path)).data }),
    },
  ],
  "POST /api/v1/hosts/bulk": (asking) =>
    asking.places.flatMap((place): Case[] => {
      const code = asking.reaches(place) ? null : "entity_reference_invalid";
      const item = { network_id: place.networkId, name: `${place.word} bulk`, tags: [place.records.tags?.id] };
      const host = place.records.hosts as Wire;
      const whole = {
        ...item,
        interfaces: [
          {
            if_index: 1,
            if_descr: place.word,
            native_vlan_id: place.records.vlans?.id,
            neighbor: { type: "Host", id: host.id },
          },
        ],
        virtualization: { type: "Kvm", details: { service_id: place.records.services?.id } },
      };
      const cases: Case[] = [{ title: `a new one in ${place.name}`, path: asking.path, body: [whole], code }];
      if (asking.reaches(place))
        cases.push({
          title: `one of ${place.name} as it is`,
          path: asking.path,
          body: [{ id: host.id, network_id: place.networkId, name: host.name }],
          code: null,
          check: ({ data }) => expect(data[0].operation).toBe("Unchanged"),
        });
      // "A Member's host update that changes `credential_assignments` is 403."
      if (asking.reaches(place))
        cases.push({
          title: `one of ${place.name} that would give the credential away`,
          path: asking.path,
          body: [{ ...item, credential_assignments: [{ credential_id: place.records.credentials?.id }] }],
          code: asking.caller.networkIds === null ? null : "entity_access_denied",
          role: "Admin",
        });
      return cases;
    }),
  "PUT /api/v1/hosts/:id/consolidate/:other_id": (asking) =>
    asking.targets("hosts").flatMap(({ title, id, place, isReached }): Case[] => {
      const between = (one: string, other: string) => asking.path.replace(":id", one).replace(":other_id", other);
      const path = between(id, id);
      if (!isReached || place === null) {
        const into = async () => ({ path: between(await victim(asking, "hosts", asking.home), id) });
        return [
          { title: `into ${title}`, path, code: "entity_not_found" },
          { title: `of ${title}`, path, code: "entity_not_found", fresh: into },
        ];
      }
      const fresh = async () => ({
        path: between(await victim(asking, "hosts", place), await victim(asking, "hosts", place)),
      });
      return [
        {
          title: `two of ${title}`,
          path,
          code: null,
          fresh,
          check: ({ data }) => expect(data.actions.map((each: Wire) => each.action)).toContain("Closed"),
        },
        // "Admin where either host has credential assignments": the answer must not reveal which host.
        {
          title: `one of ${title} that a credential is assigned to`,
          path,
          code: null,
          role: "Admin",
          fresh: async () => {
            const [one, other] = [await victim(asking, "hosts", place), await victim(asking, "hosts", place)];
            await made(
              place.owner.post("credentials", {
                ...(await bodyOf(asking, "credentials", place)),
                assigned_network_ids: [],
                host_assignments: [{ host_id: other }],
              }),
            );
            return { path: between(one, other) };
          },
        },
      ];
    }),
  "POST /api/v1/hosts/:id/split": (asking) =>
    asking.targets("hosts").map(({ title, id, place, isReached }): Case => {
      const path = asking.path.replace(":id", id);
      const body = { name: "split", port_ids: [UNKNOWN_ID] };
      if (!isReached || place === null) return { title, path, body, code: "entity_not_found" };
      return {
        title,
        path,
        body,
        code: null,
        fresh: async () => {
          const host = await victim(asking, "hosts", place);
          const { id } = await made(place.owner.post("ports", { host_id: host, number: 9, protocol: "Tcp" }));
          return { path: asking.path.replace(":id", host), body: { name: `${place.word} split`, port_ids: [id] } };
        },
        check: ({ data }) => expect(data.actions.map((each: Wire) => each.action)).toContain("Moved"),
      };
    }),
  "POST /api/v1/ip-addresses/:id/confirm": (asking) =>
    asking.targets("ip-addresses").map(({ title, id, place, isReached }): Case => {
      const path = asking.path.replace(":id", id);
      if (!isReached || place === null) return { title, path, code: "entity_not_found" };
      return {
        title,
        path,
        code: null,
        fresh: async () => ({ path: asking.path.replace(":id", await victim(asking, "ip-addresses", place)) }),
        check: ({ data }) => expect(data.credential_ids).toEqual([]),
      };
    }),
  "GET /api/v1/credentials/:id/reach": (asking) =>
    asking.targets("credentials").map(
      ({ title, id, isReached }): Case => ({
        title,
        path: asking.path.replace(":id", id),
        code: isReached ? null : "entity_not_found",
        check: ({ data }) =>
          expect(sorted(data.networks.map((each: Wire) => each.network_id))).toEqual(
            sorted(asking.places.filter((place) => asking.reaches(place)).map(({ networkId }) => networkId)),
          ),
      }),
    ),
  "POST /api/v1/credentials/:id/try": (asking) => {
    const tried = (title: string, id: string, networkId: string, code: Case["code"]): Case => ({
      title,
      path: asking.path.replace(":id", id),
      body: { network_id: networkId, ip_address: "192.0.2.77" },
      code,
      ...(code === null ? { check: ({ data }: Answer) => expect(data.network_id).toBe(networkId) } : {}),
    });
    // The organization's credential is assigned in each of its networks: a caller who reaches only some of them may not
    // send it anywhere.
    const isConfined = asking.caller.networkIds !== null;
    const [own] = asking.targets("credentials").filter(({ isReached }) => isReached);
    return [
      ...asking
        .targets("credentials")
        .map(({ title, id, isReached }) =>
          tried(
            title,
            id,
            asking.home.networkId,
            !isReached ? "entity_not_found" : isConfined ? "entity_access_denied" : null,
          ),
        ),
      ...asking.places
        .filter((place) => !asking.reaches(place))
        .map(({ name, networkId }) =>
          tried(`in the network of ${name}`, own?.id ?? UNKNOWN_ID, networkId, "entity_reference_invalid"),
        ),
    ];
  },
  "GET /api/v1/subnets/tree": (asking) =>
    asking.places.flatMap(({ name, networkId }) =>
      asking.instants().map(
        (instant): Case => ({
          title: `${name} ${instant.title}`,
          path: withQuery(asking.path, `network_id=${networkId}`, instant.query),
          code: null,
          check: ({ data }) =>
            expect(sorted(idsOf(data))).toEqual(
              sorted(
                idsOf(asking.living("subnets", instant.sequence).filter((subnet) => subnet.network_id === networkId)),
              ),
            ),
        }),
      ),
    ),
  // Addresses of a nested subnet are listed under that one.
  "GET /api/v1/subnets/:id/addresses": (asking) =>
    atInstants(
      asking,
      "subnets",
      ({ data }, { id, sequence }) => {
        const subnets = data.flatMap(({ subnet }: Wire) => (subnet === null ? [] : [subnet.cidr]));
        const isApart = ({ ip_address }: Wire) => !subnets.some((cidr: string) => isIpWithin(ip_address, cidr));
        const living = asking
          .living("ip-addresses", sequence)
          .filter((address) => address.subnet_id === id && isApart(address));
        expect(sorted(idsOf(data.flatMap(({ ip_addresses }: Wire) => ip_addresses)))).toEqual(sorted(idsOf(living)));
      },
      ["limit=0"],
    ),
  "GET /api/v1/subnets/:id/blocks": (asking) =>
    atInstants(asking, "subnets", ({ data }, { sequence }) => {
      const within = data.flatMap(({ subnet }: Wire) => (subnet === null ? [] : [subnet.id]));
      const living = idsOf(asking.living("subnets", sequence));
      expect(within.filter((each: string) => !living.includes(each))).toEqual([]);
      expect(data.length).toBeGreaterThan(0);
    }),
  "GET /api/v1/subnets/:id/free": (asking) =>
    atInstants(
      asking,
      "subnets",
      ({ data }, { id }) => expect([data.subnet_id, data.next.length > 0]).toEqual([id, true]),
      ["", "prefix_length=24&count=2"],
    ),
  "POST /api/v1/subnets/:id/allocate": (asking) =>
    asking.targets("subnets").flatMap(({ title, id, place, isReached }) => {
      const path = asking.path.replace(":id", id);
      const word = place?.word ?? "zz";
      const code = isReached ? null : "entity_not_found";
      const cases: Case[] = [
        { title: `a reservation in ${title}`, path, body: { description: `${word} reserved` }, code },
        { title: `a subnet in ${title}`, path, body: { prefix_length: 30, name: `${word} subnet` }, code },
      ];
      // Hosts out of reach are reported as missing.
      for (const other of asking.places)
        if (isReached && other !== place)
          cases.push({
            title: `in ${title} to a host of ${other.name}`,
            path,
            body: { host_id: other.switchId },
            code: "entity_reference_invalid",
          });
      return cases;
    }),
  "GET /api/v1/networks/:id/map-positions": (asking) => [
    ...asking.places.map(
      (place): Case => ({
        title: place.name,
        path: asking.path.replace(":id", place.networkId),
        code: asking.reaches(place) ? null : "entity_not_found",
        check: ({ data }) => expect(data.network_id).toBe(place.networkId),
      }),
    ),
    { title: "nothing", path: asking.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "PUT /api/v1/networks/:id/map-positions": (asking) => [
    ...asking.places.flatMap((place) =>
      asking.places.map((other): Case => {
        const isReached = asking.reaches(place);
        // Hosts out of reach are reported as missing.
        const refusal = other === place ? null : "entity_reference_invalid";
        const x = asking.places.indexOf(place);
        return {
          title: `a host of ${other.name} on the map of ${place.name}`,
          path: asking.path.replace(":id", place.networkId),
          body: { nodes: { [other.switchId]: { x, y: -7 } } },
          code: isReached ? refusal : "entity_not_found",
          check: ({ data }) => expect(data.nodes[other.switchId]).toEqual({ x, y: -7, placed: "person" }),
        };
      }),
    ),
    {
      title: "nothing",
      path: asking.path.replace(":id", UNKNOWN_ID),
      body: { nodes: { [UNKNOWN_ID]: null } },
      code: "entity_not_found",
    },
  ],
  "PUT /api/v1/tags/assign": (asking) =>
    tagged(asking, (type, record) => ({ entity_type: type, entity_id: record.id, tag_ids: record.tags })),
  "POST /api/v1/tags/assign/bulk-add": (asking) =>
    tagged(asking, (type, record, tagId) => ({ entity_type: type, entity_ids: [record.id], tag_id: tagId })),
  "POST /api/v1/tags/assign/bulk-remove": (asking) =>
    tagged(asking, (type, record, tagId) => ({ entity_type: type, entity_ids: [record.id], tag_id: tagId }), true),
  "POST /api/v1/discovery/self": (asking) =>
    asking.places.map(
      (place): Case => ({
        title: place.name,
        path: asking.path,
        body: { network_id: place.networkId },
        code: asking.reaches(place) ? null : "entity_reference_invalid",
      }),
    ),
  "GET /api/v1/discovery/scans": (asking) => {
    const listed = (title: string, query: string, finds: (place: Place) => boolean, isThere = true): Case => ({
      title,
      path: withQuery(asking.path, "limit=0", query),
      code: null,
      check: ({ data }) => {
        // Ignores scans requested by other cases in the meantime.
        const known = asking.places.map((place) => place.scanId);
        expect(sorted(idsOf(data)).filter((id) => known.includes(id))).toEqual(
          sorted(
            asking.places
              .filter((place) => isThere && asking.reaches(place) && finds(place))
              .map((place) => place.scanId),
          ),
        );
        const networks = asking.places
          .filter((place) => asking.reaches(place) && finds(place))
          .map((place) => place.networkId);
        for (const scan of data) expect(networks).toContain(scan.network_id);
      },
    });
    return [
      ...asking
        .instants()
        .map((instant) => listed(instant.title, instant.query, () => true, instant.title !== asking.world.early)),
      ...asking.places.map((place) =>
        listed(`network_id of ${place.name}`, `network_id=${place.networkId}`, (each) => each === place),
      ),
      listed("completed", "status=Completed&order_direction=desc", () => true),
      listed("failed", "status=Failed", () => false),
    ];
  },
  "POST /api/v1/discovery/scans": (asking) =>
    asking.places.flatMap((place): Case[] => {
      const isReached = asking.reaches(place);
      const asked = {
        path: asking.path,
        body: { network_id: place.networkId, kind: "snmp" },
        code: isReached ? null : "entity_reference_invalid",
        afterwards: ({ status, data }: Answer) =>
          status === 200 ? untilEnded(asking.world.appliance, data.id).then(() => {}) : undefined,
      };
      const cases: Case[] = [{ title: place.name, ...asked }];
      if (isReached)
        cases.push({
          title: `targets outside the subnets of ${place.name}`,
          ...asked,
          body: { ...asked.body, targets: [`10.${place.octet}.7.7`, `198.18.7.${place.octet}`] },
          role: "Admin",
        });
      if (isReached)
        cases.push({
          title: `targets in a subnet of ${place.name}`,
          ...asked,
          body: { ...asked.body, targets: [`10.${place.octet}.0.7`] },
        });
      return cases;
    }),
  "POST /api/v1/ip-addresses/:id/check": (asking) =>
    asking.targets("ip-addresses").map(
      ({ title, id, isReached }): Case => ({
        title,
        path: asking.path.replace(":id", id),
        body: { kind: "sweep" },
        code: isReached ? null : "entity_not_found",
        afterwards: ({ status, data }: Answer) =>
          status === 200 ? untilEnded(asking.world.appliance, data.id).then(() => {}) : undefined,
      }),
    ),
  "GET /api/v1/discovery/scans/:id": (asking) =>
    ofScans(asking, ({ data }, place) =>
      expect(data).toMatchObject({ id: place.scanId, network_id: place.networkId, status: "Completed" }),
    ),
  "GET /api/v1/discovery/scans/:id/findings": (asking) => [
    ...ofScans(asking, ({ data }) => expect(data.length).toBeGreaterThan(0)),
    ...ofScans(asking, ({ data }) => expect(data).toEqual([]), "type=Closed"),
  ],
  "GET /api/v1/discovery/scans/:id/events": (asking) =>
    ofScans(asking, ({ text }, place) => expect(text).toContain(place.scanId)),
  "POST /api/v1/discovery/scans/:id/cancel": (asking) => [
    ...asking.places.map((place): Case => {
      const path = (id: string) => asking.path.replace(":id", id);
      if (!asking.reaches(place)) return { title: place.name, path: path(place.scanId), code: "entity_not_found" };
      // A queued scan that does not start.
      const author = {
        type: "System",
        id: null,
        name: "a test",
        organizationId: place.organizationId,
        requestId: null,
        userId: null,
        role: "Owner",
        networkIds: null,
      } as const;
      const input = {
        network_id: place.networkId,
        kind: "snmp" as const,
        targets: null,
        commit: true,
        allow_large: false,
        schedule: null,
      };
      const fresh = async () => ({
        path: path((await asking.world.appliance.writes.run("discovery.queue", input, author)).result.id),
      });
      return {
        title: place.name,
        path: path(place.scanId),
        code: null,
        fresh,
        check: ({ data }) => expect(data.status).toBe("Cancelled"),
      };
    }),
    { title: "nothing", path: asking.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "GET /api/v1/activity": (asking) => {
    const { oracle } = asking.world;
    return asking.values("group_by").flatMap((grouping) =>
      [...narrowings(asking), { title: "all", query: "", finds: () => true }].map(
        ({ title, query, finds }): Case => ({
          title: `by ${grouping}, ${title}`,
          path: withQuery(asking.path, `group_by=${grouping}`, grouping === "time" ? "" : "limit=1000", query),
          code: null,
          check: ({ data }) => {
            const counted = oracle
              .counted(asking.caller, SHOWN, 0, oracle.head)
              .filter(finds)
              .filter(({ operation }) => grouping !== "field" || operation === "Updated");
            // Fields changed by an update beyond the caller's reach do not count.
            if (grouping !== "field" || asking.caller.networkIds === null) expect(data.total).toBe(counted.length);
            else expect(data.total).toBeLessThanOrEqual(counted.length);
            if (grouping !== "field")
              expect(data.groups.reduce((sum: number, group: Wire) => sum + group.total, 0)).toBe(data.total);
            if (grouping !== "record") return;
            expect(sorted(idsOf(data.groups))).toEqual(sorted([...new Set(counted.map(({ id }) => id))]));
            expect(data.groups.every((group: Wire) => group.name !== null)).toBe(true);
          },
        }),
      ),
    );
  },
  "GET /api/v1/summary": (asking) =>
    throughout(asking, ({ data }, { place, living, sequence }) => {
      const { oracle } = asking.world;
      for (const [kind, count] of Object.entries(data.counts)) {
        const within = living(kind).filter((record) => place === null || record.network_id === place.networkId);
        expect([kind, count]).toEqual([kind, within.length]);
      }
      const after = oracle.sequenceAt(data.from);
      const isWithin = ({ id }: { id: string }) => place === null || oracle.find(id)?.networkId === place.networkId;
      const counted = oracle.counted(asking.caller, SHOWN, after, sequence).filter(isWithin);
      const { created, updated, deleted } = data.changes;
      expect(created + updated + deleted).toBe(counted.length);
      for (const { id } of [...data.new, ...data.vanished, ...data.flapping.ports, ...data.stale.hosts])
        expect(counted.some((change) => change.id === id)).toBe(true);
    }),
  "GET /api/v1/conflicts": (asking) =>
    throughout(
      asking,
      ({ data }, { place, living }) => {
        for (const { network_ids, parties } of data as Wire[]) {
          if (place !== null) expect(network_ids).toContain(place.networkId);
          for (const { entity_type, id } of parties) expect(idsOf(living(entity_type))).toContain(id);
        }
        const told = (data as Wire[]).filter(({ type, value }) => type === "Address" && /^10\./.test(value));
        expect(sorted(told.map(({ network_ids, value }) => `${network_ids[0]} ${value}`))).toEqual(
          sorted(sharedAddresses(living, place).map(([key]) => key)),
        );
      },
      "limit=0",
    ),
  "GET /api/v1/conflicts/export/csv": (asking) =>
    throughout(asking, ({ text }, { place, living }) => {
      const rows = csvRecords(text);
      for (const { entity_type, id, host_id, network_id, network_name } of rows) {
        expect(idsOf(living(entity_type as string))).toContain(id as string);
        if (host_id !== "") expect(idsOf(living("host"))).toContain(host_id as string);
        expect(living("network").find((each) => each.id === network_id)?.name).toBe(network_name);
      }
      const told = rows.filter(({ type, value }) => type === "Address" && /^10\./.test(value as string));
      const shared = sharedAddresses(living, place);
      expect(sorted(told.map(({ network_id, value, id }) => `${network_id} ${value} ${id}`))).toEqual(
        sorted(shared.flatMap(([key, found]) => found.map(({ host_id }) => `${key} ${host_id}`))),
      );
    }),
  "POST /api/v1/conflicts/acceptances": (asking) => [
    ...asking.places.map((place): Case => {
      const fresh = async () => ({ body: await conflictAt(place) });
      if (!asking.reaches(place)) return { title: place.name, path: asking.path, code: "entity_stale", fresh };
      return {
        title: place.name,
        path: asking.path,
        code: null,
        fresh,
        check: ({ data }) => expect(data.network_ids).toEqual([place.networkId]),
      };
    }),
  ],
  "DELETE /api/v1/conflicts/acceptances/:id": (asking) => [
    ...asking.places.map((place): Case => {
      const fresh = async () => {
        const { data } = await place.owner.post("conflicts/acceptances", await conflictAt(place));
        return { path: asking.path.replace(":id", data.id) };
      };
      return {
        title: place.name,
        path: asking.path.replace(":id", UNKNOWN_ID),
        code: asking.reaches(place) ? null : "entity_not_found",
        fresh,
      };
    }),
    { title: "nothing", path: asking.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" },
  ],
  "GET /api/v1/changes": (asking) => {
    const { oracle, then } = asking.world;
    const changes = (
      title: string,
      query: string,
      after: number,
      finds: (version: { kind: string; id: string }) => boolean,
    ): Case => ({
      title,
      path: withQuery(asking.path, "limit=1000", `after=${after}`, query),
      code: null,
      check: ({ data, body }) => {
        const until = body.meta.feed.after;
        const expected = oracle.versions(asking.caller, SHOWN, after, until).filter(finds);
        const told = (each: { id: string; sequence: number; operation: string }) =>
          `${each.sequence} ${each.id} ${each.operation}`;
        const found = data.map((change: Wire) =>
          told({ id: change.record.id, sequence: change.transaction.sequence, operation: change.operation }),
        );
        expect(sorted(found)).toEqual(sorted(expected.map(told)));
        expect(body.meta.feed.has_more || until === oracle.head).toBe(true);
      },
    });
    return [
      changes("all", "", 0, () => true),
      changes("since then", "", oracle.sequenceAt(then), () => true),
      ...asking.values("types").map((type) => changes(type, `types=${type}`, 0, ({ kind }) => kind === type)),
      ...asking.places.map((place) =>
        changes(
          `network_id of ${place.name}`,
          `network_id=${place.networkId}`,
          0,
          ({ id }) => oracle.find(id)?.networkId === place.networkId,
        ),
      ),
      {
        title: "after a place in other data",
        path: withQuery(asking.path, "after=1", "mark=00000000"),
        code: "validation_failed",
      },
      {
        title: "one at a time",
        path: withQuery(asking.path, "limit=1"),
        code: null,
        check: ({ data }) =>
          expect(data.length > 0).toBe(oracle.versions(asking.caller, SHOWN, 0, oracle.head).length > 0),
      },
    ];
  },
  "GET /api/v1/diff": (asking) => {
    const { world, caller } = asking;
    const { oracle, early, then, late } = world;
    const alive = (sequence: number, types: readonly string[], finds: (record: Wire) => boolean) =>
      new Set(idsOf(types.flatMap((kind) => oracle.living(caller, kind, sequence).filter(finds))));
    const diff = (
      title: string,
      from: string,
      to: string,
      query: string,
      types: readonly string[],
      finds: (record: Wire) => boolean = () => true,
    ): Case => ({
      title,
      path: withQuery(asking.path, `from=${from}&to=${to}`, query),
      code: null,
      check: ({ data }) => {
        const [before, after] = [
          alive(oracle.sequenceAt(from), types, finds),
          alive(oracle.sequenceAt(to), types, finds),
        ];
        const told = (sort: string, ids: readonly string[]) =>
          !query.includes("change=") || query === `change=${sort}` ? sorted(ids) : [];
        expect(sorted(idsOf(data.added))).toEqual(
          told(
            "added",
            [...after].filter((id) => !before.has(id)),
          ),
        );
        expect(sorted(idsOf(data.removed))).toEqual(
          told(
            "removed",
            [...before].filter((id) => !after.has(id)),
          ),
        );
        for (const id of idsOf(data.changed)) expect(before.has(id) && after.has(id)).toBe(true);
        const counts = Object.values(data.counts as Record<string, Record<string, number>>).reduce(
          (sum, each) => sum + Object.values(each).reduce((a, b) => a + b, 0),
          0,
        );
        expect(counts).toBe(data.added.length + data.removed.length + data.changed.length);
      },
    });
    const inNetwork = (place: Place) => (record: Wire) =>
      record.network_id === place.networkId || record.id === place.networkId;
    // Not shown: the ignored records of a host.
    const inHost = (place: Place) => (record: Wire) =>
      (record.record_id === undefined && record.host_id === place.records.hosts?.id) ||
      record.id === place.records.hosts?.id;
    return [
      diff("from the beginning", early, late, "", SHOWN),
      diff("since then", then, late, "", SHOWN),
      diff("until then", early, then, "", SHOWN),
      ...asking.values("types").map((type) => diff(type, early, late, `types=${type}`, [type])),
      diff("without the names", then, late, "ignore=name,tags", SHOWN),
      ...asking.values("change").map((sort) => diff(sort, then, late, `change=${sort}`, SHOWN)),
      ...asking.places.flatMap((place) => [
        diff(`network_id of ${place.name}`, early, late, `network_id=${place.networkId}`, SHOWN, inNetwork(place)),
        diff(`host_id of ${place.name}`, early, late, `host_id=${place.records.hosts?.id}`, SHOWN, inHost(place)),
        diff(
          `ids of ${place.name}`,
          early,
          late,
          `ids=${place.networkId},${place.records.hosts?.id}`,
          SHOWN,
          ({ id }) => id === place.networkId || id === place.records.hosts?.id,
        ),
        diff(
          `filter for ${place.name}`,
          early,
          late,
          `types=host&filter=${encodeURIComponent(`network_id = "${place.networkId}"`)}`,
          ["host"],
          inNetwork(place),
        ),
      ]),
      ...asking.values("format").map(
        (format): Case => ({
          title: `as ${format}`,
          path: withQuery(asking.path, `from=${early}&format=${format}`),
          code: null,
        }),
      ),
    ];
  },
  "GET /api/v1/transactions": (asking) => {
    const { oracle } = asking.world;
    const visible = (until: number) =>
      [...new Set(oracle.versions(asking.caller, SHOWN, 0, until).map((version) => version.sequence))].reverse();
    const byReason = asking.places.flatMap((place) =>
      asking.instants().map(
        (instant): Case => ({
          title: `${instant.title}, for a reason of ${place.name}`,
          path: withQuery(asking.path, `limit=0&reason=${place.word.toUpperCase()}`, instant.query),
          code: null,
          check: ({ data, body }) => {
            const sequences = visible(Math.min(instant.sequence, oracle.head)).filter((sequence) =>
              oracle.reasonOf(sequence)?.includes(place.word),
            );
            if (asking.reaches(place) && instant.query === "") expect(sequences.length).toBeGreaterThan(5);
            expect(data.map((transaction: Wire) => transaction.sequence)).toEqual(sequences);
            expect(body.meta.pagination.total_count).toBe(sequences.length);
          },
        }),
      ),
    );
    const all = asking.instants().flatMap((instant) =>
      ["limit=1000", "limit=0", "limit=2&offset=1", "limit=0&include=highlights"].map(
        (page): Case => ({
          title: `${instant.title}, ${page}`,
          path: withQuery(asking.path, page, instant.query),
          code: null,
          check: ({ data, body }) => {
            const sequences = visible(Math.min(instant.sequence, oracle.head));
            const shown = page.includes("offset")
              ? sequences.slice(1, 3)
              : page === "limit=1000"
                ? sequences.slice(0, 1_000)
                : sequences;
            expect(data.map((transaction: Wire) => transaction.sequence)).toEqual(shown);
            expect(body.meta.pagination.total_count).toBe(sequences.length);
          },
        }),
      ),
    );
    const narrowed = narrowings(asking).map(
      ({ title, query, finds }): Case => ({
        title,
        path: withQuery(asking.path, "limit=0&order_direction=asc", query),
        code: null,
        check: ({ data, body }) => {
          const counted = oracle.counted(asking.caller, SHOWN, 0, oracle.head).filter(finds);
          const sequences = [...new Set(counted.map((version) => version.sequence))];
          expect(data.map((transaction: Wire) => transaction.sequence)).toEqual(sequences);
          expect(body.meta.pagination.total_count).toBe(sequences.length);
        },
      }),
    );
    return [...all, ...byReason, ...narrowed];
  },
  "GET /api/v1/transactions/:sequence": (asking) =>
    ofTransactions(asking).map(
      ({ title, sequence, isReached }): Case => ({
        title,
        path: asking.path.replace(":sequence", String(sequence)),
        code: isReached ? null : "entity_not_found",
        check: ({ data }) => expect(data).toMatchObject({ sequence, changes: { subnet: { Updated: 1 } } }),
      }),
    ),
  "POST /api/v1/transactions/:sequence/revert": (asking) => [
    // The Owner wrote them: a Member may revert only "a transaction of their own".
    ...ofTransactions(asking).map(
      ({ title, sequence, isReached }): Case => ({
        title,
        path: asking.path.replace(":sequence", String(sequence)),
        body: { dry_run: true },
        code: isReached ? null : "entity_not_found",
        ...(isReached ? { role: "Admin" } : {}),
        check: ({ data }) => expect(data.actions).toMatchObject([{ entity_type: "subnet", action: "Update" }]),
      }),
    ),
    ...asking.places.filter((place) => asking.reaches(place)).map((place) => ownTransaction(asking, place)),
  ],
  "GET /api/v1/fields/:kind": ({ path }) =>
    ["host", "api_key"].map((kind) => ({ title: kind, path: path.replace(":kind", kind), code: null })),
  "GET /api/v1/hosts/:id/faceplate": (asking) =>
    atInstants(asking, "hosts", ({ data }, { id }) => expect(data.host.id).toBe(id)),
  "GET /api/v1/stations": (asking) =>
    throughout(
      asking,
      ({ data }, { place, living }) => {
        const [hosts, ports, networks] = ["host", "if_entry", "network"].map((kind) => idsOf(living(kind)));
        for (const { network_id, switch: device, port, hosts: owners } of data as Wire[]) {
          expect(networks).toContain(network_id);
          if (place !== null) expect(network_id).toBe(place.networkId);
          expect(hosts).toContain(device.id);
          expect(ports).toContain(port.id);
          for (const owner of owners) expect(hosts).toContain(owner.id);
        }
      },
      "limit=0",
    ),
  "GET /api/v1/discovery/withheld": (asking) =>
    throughout(
      asking,
      ({ data }, { place, living }) => {
        for (const { type, id, network_id, host, credentials } of data as Wire[]) {
          expect(idsOf(living("network"))).toContain(network_id);
          if (place !== null) expect(network_id).toBe(place.networkId);
          expect(idsOf(living(type === "Subnet" ? "subnet" : "ip_address"))).toContain(id);
          if (host !== null) expect(idsOf(living("host"))).toContain(host.id);
          for (const credential of credentials) expect(idsOf(living("credential"))).toContain(credential.id);
        }
      },
      "limit=0",
    ),
  "GET /api/v1/discovery/withheld/export/csv": (asking) =>
    throughout(asking, ({ text }, { place, living }) => {
      for (const row of csvRecords(text)) {
        if (place !== null) expect(row.network_id).toBe(place.networkId);
        expect(living("network").find(({ id }) => id === row.network_id)?.name).toBe(row.network_name);
        expect(idsOf(living(row.type === "Subnet" ? "subnet" : "ip_address"))).toContain(row.id as string);
        if (row.host_id !== "") expect(idsOf(living("host"))).toContain(row.host_id as string);
        for (const id of `${row.credential_ids}`.split(";")) expect(idsOf(living("credential"))).toContain(id);
      }
    }),
  "GET /api/v1/stations/export/csv": (asking) =>
    throughout(asking, ({ text }, { place, living }) => {
      for (const row of csvRecords(text)) {
        const own = [row.switch_id, ...`${row.host_ids}`.split(";").filter((id) => id !== "")];
        for (const id of own) expect(idsOf(living("host"))).toContain(id as string);
        expect(idsOf(living("if_entry"))).toContain(row.port_id as string);
        expect(living("network").find(({ id }) => id === row.network_id)?.name).toBe(row.network_name);
        if (place !== null) expect(row.network_id).toBe(place.networkId);
      }
    }),
  "GET /api/v1/discovery/self": ({ path }) => [{ title: "this machine", path, code: null }],
  "GET /api/v1/discovery/schedules/due": ({ path }) => [
    { title: "of an expression", path: withQuery(path, "cron=@hourly"), code: null },
  ],
  "GET /api/v1/vendors/:mac": ({ path }) =>
    ["00:1b:21:aa:bb:cc", "ffffff"].map((mac) => ({ title: mac, path: path.replace(":mac", mac), code: null })),
  // Every caller may read the ledger head: it is meant to be recorded elsewhere.
  "GET /api/v1/ledger": ({ path, world }) => [
    { title: "plain", path, code: null, check: ({ data }) => expect(data.sequence).toBe(world.oracle.head) },
  ],
  "GET /api/v1/locate": (asking) =>
    located(asking, (query, instant) => ({
      path: withQuery(asking.path, query, instant.query),
      check:
        (isFound) =>
        ({ data }) =>
          expect(data.candidates.length > 0).toBe(isFound && instant.title !== asking.world.early),
    })),
  "GET /api/v1/search": (asking) =>
    located(asking, (query, instant) => ({
      path: withQuery(asking.path, query.replace(/^\w+=/, "q="), instant.query),
      check:
        (isFound) =>
        ({ data }) =>
          expect(data.length > 0).toBe(isFound && instant.title !== asking.world.early),
    })),
  "GET /api/v1/locate/timeline": (asking) =>
    located(
      asking,
      (query) => ({
        path: withQuery(asking.path, query),
        check:
          (isFound) =>
          ({ data }) =>
            expect(data.intervals.length > 0).toBe(isFound),
      }),
      ["now"],
    ),
  "GET /api/v1/topology": (asking) => [
    ...asking.places.flatMap((place): Case[] => {
      const { oracle } = asking.world;
      const overTime = (query: string, ...more: string[]) =>
        withQuery(asking.path, "from=1999-12-31T23:59:59Z", query, ...more);
      /** Every host that a list ever returned there. */
      const everKnown = () => {
        const versions = oracle.versions(asking.caller, ["host"], 0, oracle.head);
        return new Set(versions.filter(({ fields }) => fields?.network_id === place.networkId).map(({ id }) => id));
      };
      const knownIn = ({ data }: Answer): string[] => idsOf(data.nodes.filter((node: Wire) => node.kind === "Known"));
      return [
        {
          title: `${place.name} over time, all of it`,
          path: overTime(`network_id=${place.networkId}`, "include_isolated=true"),
          code: null,
          check: (answer) => expect(sorted(knownIn(answer))).toEqual(sorted([...everKnown()])),
        },
        ...asking.targets("hosts").map(
          ({ id }): Case => ({
            title: `${place.name} over time around the host ${id}`,
            path: overTime(`network_id=${place.networkId}`, `host_id=${id}`, "hops=2"),
            code: null,
            check: (answer) => {
              const known = everKnown();
              expect(knownIn(answer).includes(id)).toBe(known.has(id));
              expect(knownIn(answer).every((each) => known.has(each))).toBe(true);
            },
          }),
        ),
      ];
    }),
    ...asking.places.flatMap((place) =>
      asking.instants().flatMap((instant) => {
        const path = (...more: string[]) =>
          withQuery(asking.path, `network_id=${place.networkId}`, instant.query, ...more);
        const hosts = asking.world.oracle
          .living(asking.caller, "host", instant.sequence)
          .filter((host) => host.network_id === place.networkId);
        const check = ({ data }: Answer) => {
          expect(sorted(idsOf(data.nodes.filter((node: Wire) => node.kind === "Known")))).toEqual(sorted(idsOf(hosts)));
          expect(data.links.length > 0).toBe(hosts.length > 0);
        };
        const title = `${place.name} ${instant.title}`;
        return [
          { title: `${title}, all of it`, path: path("include_isolated=true"), code: null, check },
          ...asking.targets("hosts").map(({ id }): Case => {
            const isThere = hosts.some((host) => host.id === id);
            return {
              title: `${title} around the host ${id}`,
              path: path(`host_id=${id}`, "hops=10"),
              code: null,
              check: ({ data }) => {
                const known = idsOf(data.nodes.filter((node: Wire) => node.kind === "Known"));
                expect(known.includes(id)).toBe(isThere);
                expect(known.every((each: string) => hosts.some((host) => host.id === each))).toBe(true);
              },
            };
          }),
          ...asking
            .values("format")
            .map((format): Case => ({ title: `${title} as ${format}`, path: path(`format=${format}`), code: null })),
        ];
      }),
    ),
  ],
  // Backups contain everything: a caller limited to some networks has no access.
  "GET /api/v1/backups": ({ path, caller }) => [{ title: "plain", path, code: ofEverything(caller, null) }],
  "POST /api/v1/backups": ({ path, caller }) => [{ title: "taken", path, body: {}, code: ofEverything(caller, null) }],
  "GET /api/v1/backups/:name": ({ path, caller }) => [
    {
      title: "none",
      path: path.replace(":name", "netledger-20200101T000000000Z.db"),
      code: ofEverything(caller, "entity_not_found"),
    },
  ],
  "POST /api/v1/backups/:name/download": ({ path }) => [
    {
      title: "of two organizations",
      path: ofNoBackup(path),
      body: { password: PASSWORD },
      code: "auth_permission_denied",
    },
  ],
  "GET /api/v1/retention/preview": ({ path }) => [
    { title: "of two organizations", path: `${path}?before=-1d`, code: "auth_permission_denied" },
  ],
  "GET /api/v1/log": ({ path }) => [{ title: "of two organizations", path, code: "auth_permission_denied" }],
  "GET /api/v1/appliance": ofTwoOrganizations,
  "GET /api/v1/licences": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/v1/bill-of-materials": ({ path }) => [{ title: "plain", path, code: null }],
  "GET /api/v1/ledger/verifications": ofTwoOrganizations,
  "POST /api/v1/ledger/verifications": ofTwoOrganizations,
  "GET /api/v1/ledger/verifications/:id": ofTwoOrganizations,
  "POST /api/v1/ledger/verifications/:id/cancel": ofTwoOrganizations,
  "POST /api/v1/backups/:name/verify": ({ path }) => [
    { title: "of two organizations", path: ofNoBackup(path), code: "auth_permission_denied" },
  ],
  "DELETE /api/v1/backups/:name": ({ path }) => [
    { title: "of two organizations", path: ofNoBackup(path), code: "auth_permission_denied" },
  ],
};

function ofTwoOrganizations({ path }: Asking): Case[] {
  return [{ title: "of two organizations", path: path.replace(":id", UNKNOWN_ID), code: "auth_permission_denied" }];
}

function ofNoBackup(path: string): string {
  return path.replace(":name", "netledger-20200101T000000000Z.db");
}

function ofEverything(caller: Caller, code: string | null): string | null {
  return caller.networkIds === null ? code : "auth_permission_denied";
}

/** Reads of all networks and of each alone, at every instant, with the records that the caller finds then. */
function throughout(
  asking: Asking,
  check: (answer: Answer, known: { place: Place | null; sequence: number; living: (kind: string) => Wire[] }) => void,
  query = "",
): Case[] {
  const { oracle } = asking.world;
  return asking.instants().flatMap((instant) =>
    [null, ...asking.places].map((place): Case => {
      const network = place === null ? "" : `network_id=${place.networkId}`;
      return {
        title: `${instant.title}, of ${place?.name ?? "all"}`,
        path: withQuery(asking.path, query, network, instant.query),
        code: null,
        check: (answer) => {
          const sequence = Math.min(instant.sequence, oracle.head);
          check(answer, { place, sequence, living: (kind) => oracle.living(asking.caller, kind, sequence) });
        },
      };
    }),
  );
}

/** Reads of each target at every instant. */
function atInstants(
  asking: Asking,
  plural: string,
  check: (answer: Answer, known: { id: string; sequence: number }) => void,
  queries: readonly string[] = [""],
): Case[] {
  return asking.targets(plural).flatMap(({ title, id, isReached }) =>
    asking.instants().flatMap((instant) =>
      queries.map(
        (query): Case => ({
          title: `${title} ${instant.title} ${query}`,
          path: withQuery(asking.path.replace(":id", id), query, instant.query),
          code: isReached && instant.title !== asking.world.early ? null : "entity_not_found",
          check: (answer) => check(answer, { id, sequence: instant.sequence }),
        }),
      ),
    ),
  );
}

/** Addresses that several hosts share within one network, by `network_id ip_address`. */
function sharedAddresses(living: (kind: string) => Wire[], place: Place | null): Array<[string, Wire[]]> {
  const holders = Map.groupBy(
    living("ip_address").filter(({ ip_address }) => /^10\./.test(ip_address)),
    ({ network_id, ip_address }) => `${network_id} ${ip_address}`,
  );
  return [...holders].filter(
    ([key, found]) => found.length > 1 && (place === null || key.startsWith(`${place.networkId} `)),
  );
}

/** Scan of each place, now and at other timestamps. */
function ofScans(asking: Asking, check: (answer: Answer, place: Place) => void, query = ""): Case[] {
  const cases = asking.places.flatMap((place) =>
    (asking.takes("at") ? asking.instants() : asking.instants().slice(0, 1)).map(
      (instant): Case => ({
        title: `${place.name}, ${instant.title}`,
        path: withQuery(asking.path.replace(":id", place.scanId), query, instant.query),
        code: asking.reaches(place) && instant.title !== asking.world.early ? null : "entity_not_found",
        check: (answer) => check(answer, place),
      }),
    ),
  );
  return [...cases, { title: "nothing", path: asking.path.replace(":id", UNKNOWN_ID), code: "entity_not_found" }];
}

function ofTransactions(asking: Asking): Array<{ title: string; sequence: number; isReached: boolean }> {
  return [
    ...asking.places.map((place) => ({
      title: place.name,
      sequence: place.sequence,
      isReached: asking.reaches(place),
    })),
    { title: "one to come", sequence: 2_000_000_000, isReached: false },
  ];
}

/** The caller's own transaction there, which a Member may revert as well. */
function ownTransaction({ path, caller, world }: Asking, place: Place): Case {
  return {
    title: `their own in ${place.name}`,
    path: path.replace(":sequence", "2000000000"),
    body: { dry_run: true },
    code: null,
    fresh: async () => {
      const subnet = { id: place.records.subnets?.id, cidr: place.records.subnets?.cidr, network_id: place.networkId };
      const description = `seen by ${caller.name} at ${world.oracle.head}`;
      await caller.client.put(`subnets/${subnet.id}`, { ...subnet, name: place.records.subnets?.name, description });
      return { path: path.replace(":sequence", String(world.oracle.head)) };
    },
    check: ({ data }) => expect(data.actions).toMatchObject([{ entity_type: "subnet", fields: ["description"] }]),
  };
}

/** Searches by every key of a record, in every scope. */
function located(
  asking: Asking,
  ask: (
    query: string,
    instant: ReturnType<Asking["instants"]>[number],
  ) => { path: string; check: (isFound: boolean) => (answer: Answer) => void },
  only?: readonly string[],
): Case[] {
  return asking.places.flatMap((place) =>
    [
      `mac=02:00:00:${place.octet.toString(16)}:00:01`,
      `ip=10.${place.octet}.0.1`,
      `hostname=${place.word}-station.example`,
    ].flatMap((thing) =>
      ["", `network_id=${place.networkId}`, `network_id=${asking.home.networkId}`].flatMap((where) =>
        asking
          .instants()
          .filter(({ title }) => only?.includes(title) !== false)
          .map((instant): Case => {
            const isFound = asking.reaches(place) && (where === "" || where.endsWith(place.networkId));
            const { path, check } = ask([thing, where].filter((each) => each !== "").join("&"), instant);
            return { title: `${thing} ${where} ${instant.title}`, path, code: null, check: check(isFound) };
          }),
      ),
    ),
  );
}

/** Assigning tags requires the right to write the tagged record. */
function tagged(
  asking: Asking,
  bodyFor: (type: string, record: Wire, tagId: string) => Wire,
  isRemoval = false,
): Case[] {
  const cases: Case[] = [];
  for (const place of asking.places) {
    const tagId = place.records.tags?.id;
    for (const [type, plural, role] of [
      ["host", "hosts", "Member"],
      ["service", "services", "Member"],
      ["subnet", "subnets", "Member"],
      ["network", "networks", "Admin"],
      ["credential", "credentials", "Admin"],
    ] as const) {
      if (plural === "credentials" && place.name === "far") continue;
      const isReached = plural === "credentials" ? asking.isOwn(place) : asking.reaches(place);
      const record = place.records[plural] as Wire;
      const code = isReached ? null : "entity_reference_invalid";
      const kept: Case = {
        title: `a ${type} of ${place.name}`,
        path: asking.path,
        body: bodyFor(type, record, tagId),
        code,
        role,
      };
      // Other requests rely on the records detached here.
      const isShared = plural === "credentials" && asking.caller.networkIds !== null;
      cases.push(
        isReached && isRemoval && plural !== "networks"
          ? {
              ...kept,
              code: isShared ? "entity_access_denied" : null,
              fresh: async () => ({ body: bodyFor(type, { id: await victim(asking, plural, place) }, tagId) }),
            }
          : kept,
      );
    }
  }
  for (const { title, id, place, isReached, role } of asking.targets("auth/keys")) {
    const body = bodyFor("api_key", { id, tags: [] }, (place ?? asking.home).records.tags?.id);
    cases.push({
      title: `the key ${title}`,
      path: asking.path,
      body,
      code: isReached ? null : "entity_reference_invalid",
      sessionOnly: true,
      ...(isReached && role !== undefined ? { role } : {}),
    });
  }
  return cases;
}

type Counted = ReturnType<LedgerOracle["counted"]>[number];

/** All narrowings of a change list, each with the counted changes it must return. */
function narrowings(asking: Asking): Array<{ title: string; query: string; finds: (change: Counted) => boolean }> {
  const { oracle } = asking.world;
  const isPartOf = (kinds: readonly string[], field: string, record: string | undefined) => (change: Counted) =>
    change.id === record ||
    (kinds.includes(change.kind) &&
      oracle.find(change.id)?.versions.some((version) => version.fields?.[field] === record) === true);
  const ofPlaces = asking.places.flatMap((place) => {
    const { hosts, subnets, ports } = place.records;
    return [
      {
        title: `network_id of ${place.name}`,
        query: `network_id=${place.networkId}`,
        finds: (change: Counted) => oracle.find(change.id)?.networkId === place.networkId,
      },
      {
        title: `host_id of ${place.name}`,
        query: `host_id=${hosts?.id}`,
        finds: isPartOf(["ip_address", "port", "service", "binding", "if_entry"], "host_id", hosts?.id),
      },
      {
        title: `subnet_id of ${place.name}`,
        query: `subnet_id=${subnets?.id}`,
        finds: isPartOf(["ip_address", "ip_range"], "subnet_id", subnets?.id),
      },
      { title: `id of ${place.name}`, query: `id=${ports?.id}`, finds: (change: Counted) => change.id === ports?.id },
    ];
  });
  return [
    ...ofPlaces,
    ...asking
      .values("types")
      .map((type) => ({ title: type, query: `types=${type}`, finds: (change: Counted) => change.kind === type })),
  ];
}

/** The session id of a client. */
async function sessionOf(client: Client): Promise<string> {
  const sessions = (await client.get("/api/auth/sessions")).data as Wire[];
  return sessions.find(({ is_current }) => is_current)?.id;
}

function headersOf(client: Client): Record<string, string> {
  return (client as unknown as { headers: Record<string, string> }).headers;
}

/** Creates an address conflict of two hosts there; the body that accepts it. */
async function conflictAt(place: Place): Promise<Wire> {
  const ip_address = `10.${place.octet}.0.222`;
  const find = async () => {
    const { data } = await place.owner.get(`conflicts?limit=0&type=Address&network_id=${place.networkId}`);
    return (data as Wire[]).find(({ value }) => value === ip_address);
  };
  if ((await find()) === undefined)
    for (const name of ["one", "two"])
      await place.owner.post("hosts", {
        network_id: place.networkId,
        name: `${place.word} twin ${name}`,
        ip_addresses: [{ ip_address, subnet_id: place.records.subnets?.id }],
      });
  const { type, value, fingerprint } = (await find()) as Wire;
  return { type, value, fingerprint };
}
