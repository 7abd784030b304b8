// What was saved, and the way back: what undoing comes to is said before it is done.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { fieldText } from "../text/lists.ts";
import { hrefOf } from "../url/location.ts";
import { lastSaved, type Saved } from "./saved.ts";
import { putBack } from "./write.ts";

type Plan = Awaited<ReturnType<typeof putBack>>;

export function SavedNote({ saved: { sequence, merged } }: { readonly saved: Saved }) {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const note = useRef<HTMLElement>(null);
  // The form that had the focus is gone.
  useLayoutEffect(() => note.current?.focus(), []);
  const run = (isTried: boolean) => {
    if (sequence === null) return;
    setBusy(true);
    setProblem(null);
    putBack(sequence, isTried)
      .then(setPlan)
      .catch((cause: unknown) => setProblem(asRefusal(cause)))
      .finally(() => setBusy(false));
  };
  const close = () => {
    lastSaved.value = null;
  };
  return (
    <section ref={note} tabIndex={-1} class="note edit-saved" aria-live="polite">
      <p>
        {plan?.applied === true ? editText.undone : sequence === null ? editText.unchanged : editText.saved}{" "}
        {sequence !== null && (
          <a href={hrefOf(`/changes/${plan?.sequence ?? sequence}`)}>
            {editText.transaction(plan?.sequence ?? sequence)}
          </a>
        )}{" "}
        {plan === null && sequence !== null && may("revertTransaction") && (
          <button type="button" disabled={isBusy} onClick={() => run(true)}>
            {editText.undo}
          </button>
        )}{" "}
        <button type="button" onClick={close}>
          {editText.close}
        </button>
      </p>
      {merged.length > 0 && <p>{editText.merged(merged.map((each) => fieldText[each] ?? each))}</p>}
      {problem !== null && <Problem problem={problem} />}
      {plan !== null && !plan.applied && <PlanOf plan={plan} isBusy={isBusy} onDo={() => run(false)} onKeep={close} />}
    </section>
  );
}

interface PlanProps {
  readonly plan: Plan;
  readonly isBusy: boolean;
  onDo(): void;
  onKeep(): void;
}

function PlanOf({ plan: { actions, conflicts }, isBusy, onDo, onKeep }: PlanProps) {
  if (conflicts.length > 0)
    return (
      <>
        <p>{editText.cannotUndo}</p>
        <ul>
          {conflicts.map(({ id, field, message }) => (
            <li key={id + (field ?? "")}>{message}</li>
          ))}
        </ul>
      </>
    );
  const fields = [...new Set(actions.flatMap((action) => (action.action === "Skip" ? [] : action.fields)))];
  if (fields.length === 0) return <p>{editText.nothingToUndo}</p>;
  return (
    <p>
      {editText.plan(fields.map((field) => fieldText[field] ?? field))}{" "}
      <button type="button" class="primary" disabled={isBusy} onClick={onDo}>
        {editText.really}
      </button>{" "}
      <button type="button" onClick={onKeep}>
        {editText.keep}
      </button>
    </p>
  );
}
