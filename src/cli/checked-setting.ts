// A setting whose rules are those of the API: checked against the field's own schema.

import type { Static, TSchema } from "@sinclair/typebox";
import { check } from "../schemas/validation.ts";
import { UsageError } from "./config.ts";

/**
 * @param flag names the setting in the message: `--email`
 * @throws UsageError with what is wrong with the value
 */
export function checkSetting<Schema extends TSchema>(schema: Schema, value: unknown, flag: string): Static<Schema> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value as Static<Schema>;
  throw new UsageError(`${flag} ${checked.issues.map((issue) => issue.message).join(", ")}`);
}
