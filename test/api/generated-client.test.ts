// OpenAPI document in third-party tools: it passes Redocly's linter, and the types of openapi-typescript suffice for a
// tour of the API without casts. The tour is type-checked, then run.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../../src/http/documentation.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";
import { ClientBuild } from "../support/contract/generated-client.ts";
import { documentCheck } from "../support/contract/openapi.ts";

const PROGRAM = join(import.meta.dir, "../client/tour.ts");

let appliance: TestAppliance;
let document: string;
let toolchain: ClientBuild;

beforeAll(async () => {
  appliance = await newAppliance();
  document = await openApiDocument({ handle: appliance.handle });
  toolchain = new ClientBuild();
});

afterAll(async () => {
  toolchain.close();
  await appliance.close();
});

test("the OpenAPI document passes Redocly's recommended rules without an error or a warning", async () => {
  const { code, text } = await toolchain.lint(document);
  expect(text).toContain("Your API description is valid.");
  expect(text).not.toMatch(/warning|error/i);
  expect(code).toBe(0);
});

test("linter findings are reported", async () => {
  const broken = JSON.parse(document);
  delete broken.paths["/api/v1/hosts"].get.operationId;
  broken.paths["/api/v1/hosts"].get.responses["200"].content["application/json"].schema.properties.data = {
    $ref: "#/components/schemas/Nothing",
  };
  const { code, text } = await toolchain.lint(JSON.stringify(broken));
  expect(text).toContain("no-unresolved-refs");
  expect(code).not.toBe(0);
});

test("the tour uses neither casts nor any", () => {
  expect(readFileSync(PROGRAM, "utf8").replaceAll(/^\/\/.*$/gm, "")).not.toMatch(
    /\bas [A-Z(u]|\bany\b|@ts-|\w!\.|\w!\)/,
  );
});

test("a client with generated types completes the tour", async () => {
  const program = await toolchain.generate(document, PROGRAM);
  const checked = await toolchain.typeCheck();
  expect(checked.text).toBe("");
  expect(checked.code).toBe(0);

  // Its types come from a document that does not exist when our sources are type-checked.
  const { tour } = (await import(program)) as {
    tour: (options: {
      fetch: (request: Request) => Promise<Response>;
      email: string;
      password: string;
    }) => Promise<{ steps: string[] }>;
  };
  const check = documentCheck(appliance.handle);
  const fetch = async (request: Request) => {
    const { method, url } = request;
    appliance.clock.advance(1_000);
    const response = await appliance.handle(request);
    const text = await response.clone().text();
    const isJson = response.headers.get("content-type") === "application/json";
    await check(method, url.replace("http://localhost", ""), {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : null,
      data: undefined,
    });
    return response;
  };
  const { steps } = await tour({ fetch, email: "owner@first.example", password: PASSWORD });
  expect(steps).toEqual([
    "version 1, read only: false",
    "Owner by Session",
    "Blue tag, Campus North, 10.2.0.0/16 of VLAN 120",
    "web-1: the web, Kvm, bound to port 443, then 304",
    "GigabitEthernet1/0/7 of unknown speed forwards to 1 address, management 10.2.0.2, Ssh",
    "SnmpV3 with the secret ********, assigned to 1 host",
    "2 found: web-1 with omitted ports, access-1 with omitted ports; 1 by id, 1 service and 1 host tagged",
    "description at its creation: none; 6 versions, first Created  by ApiKey as web-1",
    "added web-1, 10.2.3.4; 0 removed, 0 fields changed, 1 host counted",
    "changes: network, vlan, subnet 10.2.0.0/16, host web-1, address 10.2.3.4, port 443; last tag.bulk_add: host 1, service 1; hash of 64 digits",
    "the host is at GigabitEthernet1/0/7 of access-1 (Unknown), according to its neighbor",
    "located until now",
    "Known access-1, Known web-1; GigabitEthernet1/0/7 to ? by Lldp (Hosts, MacAddress); graph LR",
    "plan previewed: Update host, Create port, Update service, Create binding, Delete credential_assignment; undone in one transaction: mistake",
    "Created bulk-1, Created bulk-2; deleted bulk-1, bulk-2",
    "Night in Europe/Berlin is due; 10.2.0.0/16 disabled, next run none; 0 hosts ignored",
    "Queued snmp scan Completed in the phase done, 0 devices; 192.0.2.1: no answer,web-1: 10.2.3.4: no answer; 1 listed; last event: end; entity_stale",
    "tables that begin with id and name, and with change and entity_type",
    "validation_failed: /number must be from 1 to 4094; entity_already_exists; entity_not_found; auth_session_required",
    "key toured, 47 characters; ada@example.net disabled, deleted",
  ]);
});

test("type errors are reported", async () => {
  await toolchain.generate(document.replaceAll('"if_descr"', '"if_description"'), PROGRAM);
  const { code, text } = await toolchain.typeCheck();
  expect(text).toContain("if_description");
  expect(code).not.toBe(0);
});
