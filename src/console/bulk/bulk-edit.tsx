// Bulk edit: select fields, enter values, review the plan, and write it.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { customField, definitionsOf, fieldsOf } from "../editing/forms.ts";
import type { Saved } from "../editing/saved.ts";
import { keepDraft, keptDraft } from "../forms/drafts.ts";
import { bodyWith, type TypedFields } from "../forms/edits.ts";
import { type FormField, sentValue, type Typed, typedOf, wrongWith } from "../forms/field.ts";
import { FieldControl, nameOfField } from "../forms/field-control.tsx";
import { lacksReason } from "../forms/reason.ts";
import { kindWords } from "../kinds/kinds.ts";
import { Select } from "../parts/select.tsx";
import { me } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { usePlan } from "../writes/use-plan.ts";
import { BulkForm } from "./bulk-form.tsx";
import { PlannedChanges } from "./planned-changes.tsx";
import type { BulkScope } from "./scope.ts";
import { type BulkPlan, updateMany } from "./writes.ts";

interface BulkEditProps {
  readonly scope: BulkScope;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

export function BulkEdit({ scope, onEnd }: BulkEditProps) {
  const { kind, count } = scope;
  const words = kindWords(kind);
  const [fields, setFields] = useState<readonly FormField[]>(() => fieldsOf(kind, false));
  const draftName = { userId: me.value?.id ?? "", kind: `bulk ${kind}`, id: "edit" };
  const [begun] = useState(() => keptDraft(draftName));
  const [typed, setTyped] = useState<TypedFields>(begun?.typed ?? {});
  const [reason, setReason] = useState(begun?.reason ?? "");
  useEffect(() => {
    definitionsOf(kind).then(
      (definitions) => setFields((own) => [...own, ...definitions.map(customField)]),
      (cause: unknown) => refuse(asRefusal(cause)),
    );
  }, [kind]);
  const keep = (fields: TypedFields, why: string) =>
    keepDraft(draftName, { base: {}, tag: "", typed: fields, reason: why });
  const chosen = fields.filter(({ name }) => Object.hasOwn(typed, name));
  const isWrong = chosen.some((field) => wrongWith(field, ownValue(typed, field.name) as Typed) !== null);
  const set = bodyWith(chosen.map((field) => [field.name, sentValue(field, ownValue(typed, field.name) as Typed)]));
  const { plan, isReplanned, problem, isOfWrite, isBusy, look, write, drop, refuse } = usePlan<BulkPlan>(
    ({ quoted, key }) => updateMany(scope, { set, plan: quoted }, { reason, key }),
  );
  const type = (field: FormField, value: Typed | undefined) => {
    const { [field.name]: _, ...others } = typed;
    const next = value === undefined ? others : { ...typed, [field.name]: value };
    setTyped(next);
    keep(next, reason);
    drop();
  };
  const end = (saved: Saved | null) => {
    keepDraft(draftName, null);
    onEnd(saved);
  };
  const { updated = 0, unchanged = 0 } = plan?.counts ?? {};
  return (
    <BulkForm
      title={`Edit ${counted(count, ...words)}`}
      problem={problem}
      isOfWrite={isOfWrite}
      reason={updated > 0 ? reason : null}
      onReason={(said) => {
        setReason(said);
        keep(typed, said);
      }}
      onCancel={() => end(null)}
      buttons={
        plan === null ? (
          <button
            type="button"
            class="primary"
            disabled={isBusy || isWrong || chosen.length === 0}
            onClick={() => void look()}
          >
            Preview
          </button>
        ) : (
          <>
            {updated > 0 && (
              <button
                type="button"
                class="primary"
                disabled={isBusy || lacksReason(reason)}
                onClick={() =>
                  void write(({ sequence }) => end({ kind, id: "", operation: "updated", sequence, merged: [] }))
                }
              >
                Change {counted(updated, ...words)}
              </button>
            )}{" "}
            <button type="button" onClick={() => drop()}>
              Back to the fields
            </button>
          </>
        )
      }
    >
      {begun !== null && plan === null && <p class="note">{editText.restored}</p>}
      {plan === null ? (
        <div class="bulk-fields">
          {chosen.length === 0 && <p>Choose what to set. What is not chosen stays as it is in each.</p>}
          {chosen.map((field) => (
            <FieldControl
              key={field.name}
              field={field}
              typed={ownValue(typed, field.name) as Typed}
              record={{ network_id: scope.networkId }}
              wrong={wrongWith(field, ownValue(typed, field.name) as Typed)}
              onType={(value) => type(field, value)}
            >
              <button type="button" onClick={() => type(field, undefined)}>
                Do not set {nameOfField(field)}
              </button>{" "}
              {field.isNullable && ownValue(typed, field.name) === "" && (
                <span class="aside">Left empty, it is cleared.</span>
              )}
            </FieldControl>
          ))}
          <Select
            aria-label="Add a field to set"
            value=""
            choices={[
              ["", "Add a field to set"],
              ...fields
                .filter(({ name }) => !Object.hasOwn(typed, name))
                .map((field) => [field.name, nameOfField(field)] as const),
            ]}
            onChoose={(name) => {
              const field = fields.find((each) => each.name === name);
              if (field !== undefined) type(field, typedOf(field, null));
            }}
          />
        </div>
      ) : (
        <div role="status">
          {isReplanned && <p class="note">Some records changed meanwhile. The preview is updated.</p>}
          <p>
            {updated === 0
              ? "Nothing would change: all of them already have these values."
              : `${counted(updated, ...words)} would change${unchanged === 0 ? "." : `, ${groupedDigits(unchanged)} would stay as is.`}`}
          </p>
          <PlannedChanges kind={kind} changes={plan.changes} count={updated} />
        </div>
      )}
    </BulkForm>
  );
}
