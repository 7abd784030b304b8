// The file that verifications are kept in: beside the database, so that a damaged one takes nothing of them along.

import { constants } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { replaceFile } from "../base/durable-file.ts";
import { isTaken, readRegular, whyUnreadable } from "../base/regular-file.ts";
import { check } from "../schemas/validation.ts";
import { VERIFICATIONS_KEPT, Verification } from "./verification.ts";

/** Of the file's own form. */
const FORMAT = 1;
/** Several times what the longest ones take. */
const MAX_BYTES = 16 * 1024 * 1024;

const File = Type.Object({
  format: Type.Literal(FORMAT),
  verifications: Type.Array(Verification, { maxItems: VERIFICATIONS_KEPT }),
});

/**
 * @returns newest first; none where there is no file
 * @throws Error in one sentence where it cannot be read, or is not what was written
 */
export function readVerifications(path: string): Verification[] {
  if (!isTaken(path)) return [];
  const text = textOf(path);
  if (text === "") return [];
  const checked = check(File, withBackup(parsed(path, text)));
  if (!checked.ok) throw new Error(`${path} is damaged at ${checked.issues[0]?.path}.`);
  return (checked.value as Static<typeof File>).verifications;
}

/** Before backups could be verified here, no verification was of one. */
function withBackup(file: unknown): unknown {
  if (typeof file !== "object" || file === null || !("verifications" in file) || !Array.isArray(file.verifications))
    return file;
  const verifications = file.verifications.map((each: unknown) =>
    typeof each === "object" && each !== null ? { backup: null, ...each } : each,
  );
  return { ...file, verifications };
}

/** @throws what the file system throws; the old file is left then */
export function writeVerifications(path: string, verifications: readonly Verification[]): Promise<void> {
  return replaceFile(path, `${JSON.stringify({ format: FORMAT, verifications })}\n`);
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readRegular(path, MAX_BYTES, constants.O_NOFOLLOW));
  } catch (error) {
    throw new Error(`${path} ${whyUnreadable(error)}.`);
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is damaged: it is not JSON.`);
  }
}
