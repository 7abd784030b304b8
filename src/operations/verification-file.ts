// Verification results file, stored next to the database so that damage to the database does not affect it.

import { constants } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { replaceFile } from "../base/durable-file.ts";
import { describeReadError, nameExists, readRegular } from "../base/regular-file.ts";
import { check } from "../schemas/validation.ts";
import { VERIFICATIONS_KEPT, Verification } from "./verification.ts";

/** Version of the file format. */
const FORMAT = 1;
/** Several times the maximum size of its content. */
const MAX_BYTES = 16 * 1024 * 1024;

const File = Type.Object({
  format: Type.Literal(FORMAT),
  verifications: Type.Array(Verification, { maxItems: VERIFICATIONS_KEPT }),
});

/**
 * @returns newest first; empty without a file
 * @throws Error in one sentence if the file is unreadable or malformed
 */
export function readVerifications(path: string): Verification[] {
  if (!nameExists(path)) return [];
  const text = textOf(path);
  if (text === "") return [];
  const checked = check(File, parseJson(path, text));
  if (!checked.ok) throw new Error(`${path} is damaged at ${checked.issues[0]?.path}.`);
  return (checked.value as Static<typeof File>).verifications;
}

/** @throws errors of the file system; the old file is then kept */
export function writeVerifications(path: string, verifications: readonly Verification[]): Promise<void> {
  return replaceFile(path, `${JSON.stringify({ format: FORMAT, verifications })}\n`);
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readRegular(path, MAX_BYTES, constants.O_NOFOLLOW));
  } catch (error) {
    throw new Error(`${path} ${describeReadError(error)}.`);
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is damaged: it is not JSON.`);
  }
}
