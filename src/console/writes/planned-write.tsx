// Preview of a write: changed, restored, deleted and unchanged records, or the obstacles; and after the write, its
// transaction.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { lacksReason } from "../forms/reason.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { type KeyHeader, useSending } from "../forms/sending.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { hrefOf } from "../url/location.ts";
import { PlanDifference } from "./plan-difference.tsx";
import { isChange } from "./plan-groups.ts";
import { PlanReason } from "./plan-reason.tsx";
import { type Plan, revertPlans, type Sending } from "./plans.ts";

interface PlannedWriteProps {
  /** Action, as a heading and as the label of its button. */
  readonly title: string;
  readonly verb: string;
  /** Consequences beyond the changed records. */
  readonly says?: string;
  /** Whether to offer an undo after the write. */
  readonly isUndoable?: boolean;
  run(sending: Sending): Promise<Plan>;
  /** Called on cancel, and on close after the write. */
  onEnd(): void;
  /** Called after the write. */
  onDone?(): void;
}

export function PlannedWrite(props: PlannedWriteProps) {
  const { title, verb, says, run, onEnd, onDone } = props;
  const [undone, setUndone] = useState<readonly number[] | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [reason, setReason] = useState("");
  const [hasMoved, setMoved] = useState(false);
  const { isBusy, problem, send } = useSending();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const look = async (header: KeyHeader) => {
    const told = await run({ isTried: true, reason, key: header["Idempotency-Key"] });
    setPlan(told);
    return told;
  };
  const write = async (header: KeyHeader) => {
    setMoved(false);
    if (plan === null) return look(header);
    try {
      setPlan(await run({ isTried: false, reason, key: header["Idempotency-Key"], plan: plan.plan }));
      onDone?.();
    } catch (cause) {
      const refusal = asRefusal(cause);
      if (refusal.status !== 409 || plan.plan === undefined) throw refusal;
      // Nothing was written. Show the new plan first; if it is the same, the refusal has another cause.
      if (isSame(await look(header), plan)) throw refusal;
      setMoved(true);
    }
  };
  const go = () => void send([plan, reason], write);
  useEffect(go, []);
  const isDone = plan?.applied === true;
  if (undone !== null)
    return (
      <PlannedWrite
        title="Undo this transaction"
        verb="Undo"
        run={(sending) => revertPlans(undone, sending)}
        onEnd={onEnd}
        {...(onDone === undefined ? {} : { onDone })}
      />
    );
  const transactions = plan === null ? [] : transactionsOf(plan);
  const canUndo = isDone && props.isUndoable === true && transactions.length > 0 && may("revertTransaction");
  const canDo = plan !== null && !isDone && plan.conflicts.length === 0 && plan.actions.some(isChange);
  return (
    <section class="plan" aria-label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {problem !== null && <Problem problem={problem} again={go} />}
      {hasMoved && (
        <p class="note" role="alert">
          Records changed since you read this, and nothing was done. The plan is updated: review it again.
        </p>
      )}
      {plan === null && problem === null && <Waiting />}
      {plan !== null && (isDone ? <Done plan={plan} /> : <Planned plan={plan} />)}
      {canDo && says !== undefined && <p>{says}</p>}
      {canDo && <ReasonRow id="plan-reason" reason={reason} onReason={setReason} />}
      <p>
        {canDo && (
          <button type="button" class="primary" disabled={isBusy || lacksReason(reason)} onClick={go}>
            {verb}
          </button>
        )}
        {canUndo && (
          <button type="button" onClick={() => setUndone(transactions)}>
            Undo
          </button>
        )}{" "}
        <button type="button" onClick={onEnd}>
          {isDone || !canDo ? "Close" : "Cancel"}
        </button>
      </p>
    </section>
  );
}

function isSame(one: Plan, other: Plan): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Replaces the API's field names in a message by titles. */
function titled(message: string, field: string): string {
  return message.replaceAll(` in ${field} `, ` in “${fieldTitle(field)}” `);
}

function Planned({ plan: { actions, conflicts, thenAt } }: { readonly plan: Plan }) {
  if (conflicts.length > 0)
    return (
      <>
        <p>It cannot be done:</p>
        <ul>
          {conflicts.map(({ id, field, message }) => (
            <li key={id + (field ?? "") + message}>
              <PlanReason text={field === undefined ? message : titled(message, field)} at={thenAt ?? null} />
            </li>
          ))}
        </ul>
      </>
    );
  if (!actions.some(isChange)) return <p>Nothing would change: it is like this already.</p>;
  return <PlanDifference actions={actions} thenAt={thenAt ?? null} />;
}

function transactionsOf({ sequence, sequences }: Plan): readonly number[] {
  return sequences ?? (sequence === null ? [] : [sequence]);
}

function Done({ plan }: { readonly plan: Plan }) {
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
