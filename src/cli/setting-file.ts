// Content of a file named by a setting, or of standard input. Must not block on a named pipe.

import { readRegular, whyUnreadable } from "../base/regular-file.ts";
import type { ProcessIo } from "./command.ts";
import { UsageError } from "./config.ts";

/** Far above any password, token or list of certificates. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * @param path absolute, or `-` for standard input
 * @param flag name of the setting in the message: `--token-file`
 * @throws UsageError if it cannot be read, or is not a regular file
 */
export async function readSettingFile(path: string, flag: string, io: ProcessIo): Promise<Uint8Array> {
  try {
    return path === "-" ? await io.readStdin() : readRegular(path, MAX_BYTES);
  } catch (error) {
    throw new UsageError(`${flag} ${path} ${whyUnreadable(error)}`);
  }
}
