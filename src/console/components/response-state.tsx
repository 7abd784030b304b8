// Response state: the error with a retry button, or a loading indicator until data arrives.

import type { Refusal } from "../api/refusal.ts";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

interface ResponseStateProps {
  /** Undefined until loaded; omitted where the caller knows that there are none. */
  readonly data?: unknown;
  readonly problem: Refusal | undefined;
  retry(): void;
}

export function ResponseState({ data, problem, retry }: ResponseStateProps) {
  if (problem !== undefined) return <Problem problem={problem} retry={retry} />;
  return data === undefined ? <Waiting /> : null;
}
