// Handbook facts that the code defines: limits, error codes, settings and vocabularies.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROLES } from "../../src/access/role.ts";
import { OPTIONS, type Option, variableOf } from "../../src/cli/config.ts";
import { serve } from "../../src/cli/serve.ts";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { INTRODUCTION } from "../../src/http/document-description.ts";
import { STATUS } from "../../src/http/errors.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import {
  ADMIN_STATUSES,
  CHASSIS_ID_SUBTYPES,
  OPER_STATUSES,
  PORT_ID_SUBTYPES,
} from "../../src/resources/if-entries/vocabulary.ts";
import { RANGE_PURPOSES } from "../../src/resources/ip-ranges/range-purpose.ts";
import { PORT_PROTOCOLS, PORT_TYPES } from "../../src/resources/ports/port-type.ts";
import { SOURCE_TYPES } from "../../src/resources/source.ts";
import { SUBNET_TYPES } from "../../src/resources/subnets/subnet-type.ts";
import { COLORS } from "../../src/resources/tags/color.ts";
import { HOST_VIRTUALIZATION_TYPES, SERVICE_VIRTUALIZATION_TYPES } from "../../src/resources/virtualization.ts";

const ROOT = resolve(import.meta.dir, "../../src");
const page = (topic: string) => readFileSync(join(ROOT, "handbook", `${topic}.md`), "utf8");

/** Cells of the table rows below a heading. */
function rowsBelow(text: string, heading: string): string[][] {
  const section = text.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => row.split(" | "));
}

test("the limits match the OpenAPI document, which uses the enforced constants", () => {
  const lowercase = (rows: string[][]) => rows.slice(1).map(([text = "", limit]) => [text.toLowerCase(), limit]);
  const documented = lowercase(rowsBelow(page("api"), "Limits"));
  expect(documented.length).toBeGreaterThan(10);
  expect(documented).toEqual(lowercase(rowsBelow(INTRODUCTION, "Limits")));
});

test("every error code is listed with its status, and no other code is", () => {
  const documented = rowsBelow(page("api"), "Errors").flatMap(([status, text = ""]) =>
    [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code = ""]) => [code, Number(status)]),
  );
  // Sentences also name fields.
  const isField = ([word]: (string | number)[]) =>
    /^(organization_id|user_id|(expected_)?updated_at)$/.test(String(word));
  expect(documented.filter((entry) => !isField(entry)).sort()).toEqual(Object.entries(STATUS).sort());
});

test("every setting of serve is documented, with its variable and its default", () => {
  const running = page("running");
  for (const name of [...serve.form.always, ...serve.form.maybe]) {
    const option: Option<unknown> = OPTIONS[name];
    expect(running).toContain(`--${option.flag}`);
    if (option.fallback !== null && option.value !== null)
      expect(running).toMatch(new RegExp(`${variableOf(option.flag)}.*${option.fallback}`));
  }
});

test("every command and the schema of the data are documented", () => {
  const running = page("running");
  const words = [...new Bun.Glob("*.ts").scanSync(join(ROOT, "cli"))].flatMap((file) =>
    [...readFileSync(join(ROOT, "cli", file), "utf8").matchAll(/^ +name: "(\w+)/gm)].map(([, word]) => word),
  );
  expect(words).toContain("serve");
  for (const word of words) expect(running).toContain(`\`${word}\``);
  expect(page("changes")).toContain(`schema ${SCHEMA_VERSION}.`);
});

test("every listable kind is in the table of records", () => {
  const documented = rowsBelow(page("records"), "Kinds of records").map(([names = ""]) => names);
  const isDocumented = ({ words, name }: AnyKind) =>
    documented.some((names) => names.split(", ").some((word) => word.startsWith(words?.one ?? name)));
  expect(RESOURCES.filter(({ kind }) => !isDocumented(kind)).map(({ kind }) => kind.name)).toEqual([]);
});

test.each([
  ["role", ROLES],
  ["tag `color`", COLORS],
  ["`admin_status`", ADMIN_STATUSES],
  ["`oper_status`", OPER_STATUSES],
  ["`source.type`", SOURCE_TYPES],
  ["port `protocol`", PORT_PROTOCOLS],
  ["`lldp_chassis_id.subtype`", CHASSIS_ID_SUBTYPES],
  ["`lldp_port_id.subtype`", PORT_ID_SUBTYPES],
  ["`subnet_type`", SUBNET_TYPES],
  ["IP range `purpose`", RANGE_PURPOSES],
  ["host virtualization", HOST_VIRTUALIZATION_TYPES],
  ["service virtualization", SERVICE_VIRTUALIZATION_TYPES],
] as [string, readonly string[]][])("the values of %s are all documented, and no others", (field, values) => {
  const [, documented = ""] =
    rowsBelow(page("records"), "Vocabularies").find(([name]) => name?.startsWith(field)) ?? [];
  expect([...documented.matchAll(/`([A-Z]\w+)`/g)].map(([, value = ""]) => value).sort()).toEqual([...values].sort());
});

test("the port types are all documented", () => {
  const section = page("records").split("### Port types\n")[1]?.split("\n### ")[0] ?? "";
  expect([...section.matchAll(/`([A-Z]\w+)`/g)].map(([, value = ""]) => value).sort()).toEqual([...PORT_TYPES].sort());
});
