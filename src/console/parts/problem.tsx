// Error message: cause, remedy, and the request id in the log.

import type { Refusal } from "../api/refusal.ts";

interface ProblemProps {
  readonly problem: Refusal;
  /** Repeats the request; omitted if that cannot help. */
  readonly again?: () => void;
}

export function Problem({ problem, again }: ProblemProps) {
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
        {again !== undefined && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

interface ProblemsProps {
  /** Responses shown together on a page. */
  readonly of: readonly { readonly problem: Refusal | undefined; again(): void }[];
}

/** Errors of several responses. Merges identical ones, with one retry for all of them. */
export function Problems({ of }: ProblemsProps) {
  const failed = of.flatMap(({ problem, again }) => (problem === undefined ? [] : [{ problem, again }]));
  const alike = Map.groupBy(failed, ({ problem }) => JSON.stringify([sentenceOf(problem), problem.issues]));
  return [...alike].map(([key, same]) =>
    same.slice(0, 1).map(({ problem }) => (
      <Problem
        key={key}
        problem={problem}
        again={() => {
          for (const { again } of same) again();
        }}
      />
    )),
  );
}

/** Cause and remedy. */
export function sentenceOf({ status, code, message }: Refusal): string {
  if (code === "unreachable") return "The appliance did not answer. Is it running, and can this computer reach it?";
  // A response without an API error code comes from a proxy.
  if (code === "unknown" && status >= 500)
    return `A proxy in front of the appliance answered ${message}. It may be restarting: try again in a moment.`;
  if (status === 404) return "Record not found, or you don't have access to it.";
  if (status === 429) return `The appliance is busy. Try again in a moment. ${message}`;
  return message;
}
