// Type check of the server with its tests and scripts, and of the console against types of the OpenAPI document.

import { join, resolve } from "node:path";
import { fingerprintOf, isUpToDate, markBuilt, writeAtomically } from "./build-inputs.ts";
import { apiDocument, writeForms } from "./console-forms.ts";

const root = resolve(import.meta.dir, "..");
/** Imported by the console as `#api`; the first line contains the hash of the OpenAPI document. */
const API_TYPES = join(root, "dist/console-api.ts");
const API_TYPES_OUTPUT = { stamp: join(root, "dist/.console-api-inputs"), files: [API_TYPES] };

await writeApiTypes();
const PROJECTS = [
  ["server", "."],
  ["console", "src/console"],
] as const;
const checks = PROJECTS.map(([name, project]) => {
  // With incremental state, only modules affected by a change are checked. One checker: each of several would resolve
  // the shared types again.
  const buildInfo = join(root, `dist/.types-of-${name}`);
  const args = ["--noEmit", "--checkers", "1", "--incremental", "--tsBuildInfoFile", buildInfo, "-p", project];
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
  if (isUpToDate(API_TYPES_OUTPUT, fingerprint)) {
    await writeForms();
    return;
  }
  const document = await apiDocument();
  await writeForms(document);
  const head = `// ${Bun.hash(document).toString(36)}\n`;
  const previous = Bun.file(API_TYPES);
  // Most source changes do not affect the document.
  if (!(await previous.exists()) || !(await previous.text()).startsWith(head))
    writeAtomically(API_TYPES, head + (await typesOf(document)));
  markBuilt(API_TYPES_OUTPUT, fingerprint);
}

async function typesOf(document: string): Promise<string> {
  // openapi-typescript needs the compiler API of TypeScript 5, which TypeScript 7 lacks.
  const typescript5 = await import("typescript-5");
  Bun.plugin({
    name: "typescript-5",
    setup: (build) => void build.module("typescript", () => ({ exports: typescript5, loader: "object" })),
  });
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  return astToString(await openapiTS(JSON.parse(document)));
}
