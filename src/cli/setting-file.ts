// The content of a file that a setting names, or of standard input. Must not wait for a pipe that is named as a file.

import { readRegular, whyUnreadable } from "../base/regular-file.ts";
import type { ProcessIo } from "./command.ts";
import { UsageError } from "./config.ts";

/** No password, token or list of certificates comes near it. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * @param path absolute, or `-` for standard input
 * @param flag names the setting in the message: `--token-file`
 * @throws UsageError where it cannot be read, or is not a regular file
 */
export async function readSettingFile(path: string, flag: string, io: ProcessIo): Promise<Uint8Array> {
  try {
    return path === "-" ? await io.readStdin() : readRegular(path, MAX_BYTES);
  } catch (error) {
    throw new UsageError(`${flag} ${path} ${whyUnreadable(error)}`);
  }
}
