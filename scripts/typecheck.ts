// Type check: the server with its tests and scripts, then the console against the API of the OpenAPI document.

import { join, resolve } from "node:path";
import { fingerprintOf, isMade, setMade, writeWhole } from "./build-inputs.ts";
import { apiDocument, writeForms } from "./console-forms.ts";

const root = resolve(import.meta.dir, "..");
/** Imported by the console as `#api`; its first line is the hash of the source document. */
const API_TYPES = join(root, "dist/console-api.ts");
const API_TYPES_MADE = { stamp: join(root, "dist/.console-api-inputs"), files: [API_TYPES] };

await writeApiTypes();
const PROJECTS = [
  ["server", "."],
  ["console", "src/console"],
] as const;
const checks = PROJECTS.map(([name, project]) => {
  // Incremental build state: a change costs only the modules it affects.
  const known = join(root, `dist/.types-of-${name}`);
  const args = ["--noEmit", "--incremental", "--tsBuildInfoFile", known, "-p", project];
  return Bun.spawn([process.execPath, join(root, "node_modules/typescript/lib/tsc.js"), ...args], {
    cwd: root,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
});
const codes = await Promise.all(checks.map((check) => check.exited));
process.exit(codes.find((code) => code !== 0) ?? 0);

async function writeApiTypes(): Promise<void> {
  const fingerprint = fingerprintOf(root, "scripts/typecheck.ts");
  if (isMade(API_TYPES_MADE, fingerprint)) {
    await writeForms();
    return;
  }
  const document = await apiDocument();
  await writeForms(document);
  const head = `// ${Bun.hash(document).toString(36)}\n`;
  const last = Bun.file(API_TYPES);
  // Most source changes do not affect the document.
  if (!(await last.exists()) || !(await last.text()).startsWith(head))
    writeWhole(API_TYPES, head + (await typesOf(document)));
  setMade(API_TYPES_MADE, fingerprint);
}

async function typesOf(document: string): Promise<string> {
  // openapi-typescript needs the compiler API of TypeScript 5, which TypeScript 7 lacks.
  const older = await import("typescript-5");
  Bun.plugin({
    name: "typescript-5",
    setup: (build) => void build.module("typescript", () => ({ exports: older, loader: "object" })),
  });
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  return astToString(await openapiTS(JSON.parse(document)));
}
