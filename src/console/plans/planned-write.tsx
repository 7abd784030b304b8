// Write preview: changed, restored, deleted and unchanged records, or conflicts; then its transaction.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { lacksReason } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { type KeyHeader, useWrite } from "../forms/use-write.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { hrefOf } from "../url/location.ts";
import { PlanDifference } from "./plan-difference.tsx";
import { isChange } from "./plan-groups.ts";
import { PlanReason } from "./plan-reason.tsx";
import { type Plan, type PlanRequest, revertPlans } from "./plans.ts";

interface PlannedWriteProps {
  readonly title: string;
  readonly submitLabel: string;
  /** Consequences beyond the changed records. */
  readonly consequence?: string;
  /** Whether to offer an undo after the write. */
  readonly isUndoable?: boolean;
  run(options: PlanRequest): Promise<Plan>;
  /** Called on cancel, or when the result is closed. */
  onEnd(): void;
  /** Called after the write. */
  onDone?(): void;
}

export function PlannedWrite(props: PlannedWriteProps) {
  const { title, submitLabel, consequence, run, onEnd, onDone } = props;
  const [undone, setUndone] = useState<readonly number[] | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [reason, setReason] = useState("");
  const [hasChanged, setHasChanged] = useState(false);
  const { isBusy, problem, send } = useWrite();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const preview = async (header: KeyHeader) => {
    const newPlan = await run({ isDryRun: true, reason, key: header["Idempotency-Key"] });
    setPlan(newPlan);
    return newPlan;
  };
  const write = async (header: KeyHeader) => {
    setHasChanged(false);
    if (plan === null) return preview(header);
    try {
      setPlan(await run({ isDryRun: false, reason, key: header["Idempotency-Key"], plan: plan.plan }));
      onDone?.();
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.status !== 409 || plan.plan === undefined) throw refusal;
      // Nothing was written. Shows the new plan first; if it is the same, the refusal has another cause.
      if (isSame(await preview(header), plan)) throw refusal;
      setHasChanged(true);
    }
  };
  const proceed = () => void send([plan, reason], write);
  useEffect(proceed, []);
  const isDone = plan?.applied === true;
  if (undone !== null)
    return (
      <PlannedWrite
        title="Undo this transaction"
        submitLabel="Undo"
        run={(options) => revertPlans(undone, options)}
        onEnd={onEnd}
        {...(onDone === undefined ? {} : { onDone })}
      />
    );
  const transactions = plan === null ? [] : transactionsOf(plan);
  const canUndo = isDone && props.isUndoable === true && transactions.length > 0 && may("revertTransaction");
  const canApply = plan !== null && !isDone && plan.conflicts.length === 0 && plan.actions.some(isChange);
  return (
    <section class="plan" aria-label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {problem !== null && <Problem problem={problem} retry={proceed} />}
      {hasChanged && (
        <p class="note" role="alert">
          Records have changed in the meantime. Nothing was written. Review the updated plan.
        </p>
      )}
      {plan === null && problem === null && <Waiting />}
      {plan !== null && (isDone ? <WriteResult plan={plan} /> : <PlanPreview plan={plan} />)}
      {canApply && consequence !== undefined && <p>{consequence}</p>}
      {canApply && <ReasonRow id="plan-reason" reason={reason} onReason={setReason} />}
      <p>
        {canApply && (
          <ActionButton
            label={submitLabel}
            class="primary"
            disabled={isBusy || lacksReason(reason)}
            onClick={proceed}
          />
        )}
        {canUndo && <ActionButton label="Undo" onClick={() => setUndone(transactions)} />}{" "}
        <ActionButton label={isDone || !canApply ? "Close" : "Cancel"} onClick={onEnd} />
      </p>
    </section>
  );
}

function isSame(a: Plan, b: Plan): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Replaces the API's field name in a message by the field's title. */
function withFieldTitles(message: string, field: string): string {
  return message.replaceAll(` in ${field} `, ` in “${fieldTitle(field)}” `);
}

function PlanPreview({ plan: { actions, conflicts, stateAt } }: { readonly plan: Plan }) {
  if (conflicts.length > 0)
    return (
      <>
        <p>This cannot be done:</p>
        <ul>
          {conflicts.map(({ id, field, message }) => (
            <li key={id + (field ?? "") + message}>
              <PlanReason text={field === undefined ? message : withFieldTitles(message, field)} at={stateAt ?? null} />
            </li>
          ))}
        </ul>
      </>
    );
  if (!actions.some(isChange)) return <p>Nothing would change.</p>;
  return <PlanDifference actions={actions} stateAt={stateAt ?? null} />;
}

function transactionsOf({ sequence, sequences }: Plan): readonly number[] {
  return sequences ?? (sequence === null ? [] : [sequence]);
}

function WriteResult({ plan }: { readonly plan: Plan }) {
  return (
    <>
      <p role="status">
        Done.
        {transactionsOf(plan).map((sequence) => (
          <span key={sequence}>
            {" "}
            <a href={hrefOf(`/changes/${sequence}`, { at: null })}>Transaction {groupedDigits(sequence)}</a>
          </span>
        ))}
      </p>
      {plan.conflicts.length > 0 && (
        <ul>
          {plan.conflicts.map(({ id, message }) => (
            <li key={id + message}>{message}</li>
          ))}
        </ul>
      )}
    </>
  );
}
