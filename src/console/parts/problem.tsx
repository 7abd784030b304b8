// What failed, in words: what happened, what to try, and what the log knows it by.

import type { Refusal } from "../api/refusal.ts";
import { partText } from "../text/frame.ts";

interface ProblemProps {
  readonly problem: Refusal;
  /** Asks once more; left out where that cannot help. */
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
        {problem.requestId !== null && <span>{partText.requestId(problem.requestId)}</span>}
        {again !== undefined && (
          <button type="button" onClick={again}>
            {partText.again}
          </button>
        )}
      </p>
    </div>
  );
}

function sentenceOf({ status, code, message }: Refusal): string {
  if (code === "unreachable") return partText.unreachable;
  if (status === 404) return partText.notFound;
  if (status === 429) return `${partText.tooBusy} ${message}`;
  return message;
}
