// Content of a file named by a setting, or of standard input. Never blocks on a named pipe.

import { describeReadError, readRegular } from "../base/regular-file.ts";
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
    throw new UsageError(`${flag} ${path} ${describeReadError(error)}`);
  }
}
