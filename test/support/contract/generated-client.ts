// Third-party uses of the OpenAPI document: Redocly's linter, openapi-typescript's types, and a program type-checked
// against them by our TypeScript version. Works in temporary directories below dist/, where packages resolve.

import { mock } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../../..");

interface Outcome {
  readonly code: number | null;
  /** Both streams. */
  readonly text: string;
}

/** Temporary directory, removed after use. */
export class ClientBuild {
  readonly folder: string;

  constructor() {
    mkdirSync(join(ROOT, "dist"), { recursive: true });
    this.folder = mkdtempSync(join(ROOT, "dist/client-"));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Lints the document with the ruleset `recommended`. Makes no network requests. */
  async lint(document: string): Promise<Outcome> {
    await Bun.write(this.path("openapi.json"), document);
    const env = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true", NO_COLOR: "1" };
    return run(
      [
        join(ROOT, "node_modules/@redocly/cli/bin/cli.js"),
        "lint",
        "--extends=recommended",
        "--max-problems=50",
        "openapi.json",
      ],
      this.folder,
      env,
    );
  }

  /** Writes the document's types as `api.ts`, and the program next to them. @returns the program's path there */
  async generate(document: string, program: string): Promise<string> {
    // openapi-typescript needs the compiler API of TypeScript 5, which TypeScript 7 lacks.
    const typescript5 = await import("typescript-5");
    mock.module("typescript", () => typescript5);
    const { default: openapiTS, astToString } = await import("openapi-typescript");
    await Bun.write(this.path("api.ts"), astToString(await openapiTS(JSON.parse(document))));
    await Bun.write(
      this.path("tsconfig.json"),
      JSON.stringify({ extends: join(ROOT, "tsconfig.json"), include: ["*.ts"], exclude: [] }),
    );
    copyFileSync(program, this.path(basename(program)));
    return this.path(basename(program));
  }

  /** Type-checks the directory as strictly as our own sources. */
  typeCheck(): Promise<Outcome> {
    return run([join(ROOT, "node_modules/typescript/lib/tsc.js"), "-p", "tsconfig.json"], this.folder, {});
  }
}

async function run(command: readonly string[], cwd: string, env: Record<string, string>): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code: child.exitCode, text: out + err };
}
