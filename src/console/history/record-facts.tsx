// Facts on a record's page: fields with a value (in a comparison, also fields that had one) and custom fields.

import { CustomValue } from "../components/custom-value.tsx";
import { Fact } from "../components/facts.tsx";
import { Value } from "../field-values/value.tsx";
import type { KindDetails } from "../kinds/details.ts";
import {
  customName,
  definedFieldsOf,
  fieldTitle,
  valueOfField,
  type WithCustomFields,
} from "../names/custom-fields.ts";
import { at } from "../time/at.ts";
import { PreviousValue, useHadOtherValue } from "./comparison.tsx";
import { factsOf } from "./facts-of.ts";

interface RecordFactsProps extends CustomFactsProps {
  readonly details: Partial<KindDetails>;
  /** Whether to omit a fact because it is shown directly above. */
  isShownAbove?(field: string): boolean;
}

/** Fields with a value now or, in a comparison, before. */
export function useFacts({ record, details, isShownAbove }: Omit<RecordFactsProps, "kind">): string[] {
  const hadOtherValue = useHadOtherValue(record.id);
  return factsOf(details, record).filter((field) => {
    const value = valueOfField(record, field);
    const isEmpty = value === undefined || value === null || value === "" || value === false;
    return (
      hadOtherValue(field) ||
      !(isEmpty || (Array.isArray(value) && value.length === 0) || isShownAbove?.(field) === true)
    );
  });
}

/** All facts, as rows of a `<dl class="facts">`. */
export function RecordFacts({ kind, record, ...options }: RecordFactsProps) {
  return (
    <>
      {useFacts({ record, ...options }).map((field) => (
        <Fact key={field} name={fieldTitle(field)}>
          <PreviousValue id={record.id} field={field} />
          <Value field={field} value={valueOfField(record, field)} at={at.value} />
        </Fact>
      ))}
      <CustomFacts kind={kind} record={record} />
    </>
  );
}

interface CustomFactsProps {
  /** API name of the kind, such as `if_entry`. */
  readonly kind: string;
  readonly record: WithCustomFields & { readonly id: string };
}

/** Custom fields, as rows of a `<dl class="facts">`. */
export function CustomFacts({ kind, record }: CustomFactsProps) {
  return (
    <>
      {useCustomNames(kind, record).map((field) => (
        <Fact key={field} name={fieldTitle(field)}>
          <PreviousValue id={record.id} field={field} />
          <CustomValue field={field} value={valueOfField(record, field)} />
        </Fact>
      ))}
    </>
  );
}

/** Custom fields with a value, in order of definition, followed by fields that are no longer defined. */
function useCustomNames(kind: string, record: CustomFactsProps["record"]): string[] {
  const hadOtherValue = useHadOtherValue(record.id);
  const names = definedFieldsOf(kind).map(({ key }) => customName(key));
  const others = Object.keys(record.custom_fields ?? {}).map(customName);
  return [...names, ...others.filter((name) => !names.includes(name))].filter(
    (field) => hadOtherValue(field) || valueOfField(record, field) !== undefined,
  );
}
