// Password from a file or from standard input, never from the command line, which other users can read.

import { describePasswordProblem } from "../access/password.ts";
import type { ProcessIo } from "./command.ts";
import { UsageError } from "./config.ts";
import { readSettingFile } from "./setting-file.ts";

/**
 * @param path absolute, or `-` for standard input
 * @param flag name of the setting in the message
 * @param email of the user
 * @returns the password, without one final newline
 * @throws UsageError if unreadable or not allowed as a password; never echoes it
 */
export async function readPasswordFile(path: string, flag: string, email: string, io: ProcessIo): Promise<string> {
  const bytes = await readSettingFile(path, flag, io);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${flag} ${path} is not UTF-8 text`);
  }
  const password = text.replace(/\r?\n$/, "");
  const problem = describePasswordProblem(password, email);
  if (problem !== null) throw new UsageError(`${flag} ${path}: the password ${problem}`);
  return password;
}
