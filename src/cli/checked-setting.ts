// Settings validation against the API's own field schemas.

import type { Static, TSchema } from "@sinclair/typebox";
import { check } from "../schemas/validation.ts";
import { UsageError } from "./config.ts";

/**
 * @param flag name of the setting in the message: `--email`
 * @throws UsageError with all issues of the value
 */
export function checkSetting<Schema extends TSchema>(schema: Schema, value: unknown, flag: string): Static<Schema> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value as Static<Schema>;
  throw new UsageError(`${flag} ${checked.issues.map((issue) => issue.message).join(", ")}`);
}
