// Error message: cause, remedy, and the request id for finding it in the log.

import type { Refusal } from "../api/refusal.ts";
import { ActionButton } from "./buttons.tsx";

/** @param retry repeats the request; omitted if that cannot help */
export function Problem({ problem, retry }: { readonly problem: Refusal; readonly retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{sentenceOf(problem)}</p>
      {problem.issues.length > 0 && (
        <ul>
          {problem.issues.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <p class="aside">
        {problem.requestId !== null && <span>Request {problem.requestId}</span>}
        {retry !== undefined && <ActionButton label="Try again" onClick={retry} />}
      </p>
    </div>
  );
}

interface ProblemsProps {
  /** Responses shown together on a page. */
  readonly responses: readonly { readonly problem: Refusal | undefined; retry(): void }[];
}

/** Errors of several responses. Merges identical ones, with one retry for all of them. */
export function Problems({ responses }: ProblemsProps) {
  const failed = responses.flatMap(({ problem, retry }) => (problem === undefined ? [] : [{ problem, retry }]));
  const groups = Map.groupBy(failed, ({ problem }) => JSON.stringify([sentenceOf(problem), problem.issues]));
  return [...groups].map(([key, group]) => {
    const retry = () => {
      for (const response of group) response.retry();
    };
    return group[0] && <Problem key={key} problem={group[0].problem} retry={retry} />;
  });
}

/** Cause and remedy of a problem, in a sentence or two. */
export function sentenceOf({ status, code, message }: Refusal): string {
  if (code === "unreachable") return "The appliance did not respond. Is it running, and can this computer reach it?";
  // A response without an API error code comes from a proxy.
  if (code === "unknown" && status >= 500)
    return `A proxy in front of the appliance returned ${message}. It may be restarting: try again in a moment.`;
  if (status === 404) return "Record not found, or you don't have access to it.";
  if (status === 429) return `The appliance is busy. Try again in a moment. ${message}`;
  return message;
}
