// Plan token: ensures that a request does exactly what its dry run reported.

import { Type } from "@sinclair/typebox";
import { DomainError } from "../base/errors.ts";

/** SHA-256 in hexadecimal digits. */
export const PLAN_TOKEN_LENGTH = 64;

/** In a request. */
export const PlanToken = Type.String({
  minLength: PLAN_TOKEN_LENGTH,
  maxLength: PLAN_TOKEN_LENGTH,
  description: "The `plan` of a dry run: 409 if the plan or any of its records has since changed.",
});

/** In a response. */
export const ReportedPlanToken = Type.String({
  description:
    "Identifies exactly this plan. Send it with the actual request, which is then refused with 409 if its result would differ.",
});

/** @throws DomainError entity_stale if the quoted plan differs from the actual one */
export function assertPlanned(quoted: string | undefined, actual: string): void {
  if (quoted === undefined || quoted === actual) return;
  throw new DomainError(
    "entity_stale",
    "The plan is outdated: its records have since changed, or the request differs. Nothing was written; request another plan.",
    { expected: quoted, actual },
  );
}
