// Facts of a record: the fields named by its kind, all other fields with a value, and custom fields. In a comparison,
// also fields that had a value.

import type { KindDetails } from "../kinds/details.ts";
import { customName, definedFieldsOf, fieldTitle, type Holding, valueOfField } from "../names/custom-fields.ts";
import { CustomValue } from "../parts/custom-value.tsx";
import { Fact } from "../parts/facts.tsx";
import { at } from "../time/at.ts";
import { Value } from "../values/value.tsx";
import { useWas, Was } from "./comparison.tsx";
import { factsOf } from "./facts-of.ts";

interface RecordFactsProps extends CustomFactsProps {
  readonly details: Pick<KindDetails, "facts" | "toldElsewhere" | "unlisted">;
  /** Whether to omit a fact because it is shown directly above. */
  isSaid?(field: string): boolean;
}

/** Fields with a value now or before. */
export function useFacts({ record, details, isSaid }: Omit<RecordFactsProps, "kind">): string[] {
  const was = useWas(record.id);
  return factsOf(details, record).filter((field) => {
    const value = valueOfField(record, field);
    const isEmpty = value === undefined || value === null || value === "" || value === false;
    return was(field) || !(isEmpty || (Array.isArray(value) && value.length === 0) || isSaid?.(field) === true);
  });
}

/** Rows of a `<dl class="facts">`. */
export function RecordFacts({ kind, record, ...which }: RecordFactsProps) {
  return (
    <>
      {useFacts({ record, ...which }).map((field) => (
        <Fact key={field} name={fieldTitle(field)}>
          <Was id={record.id} field={field} />
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
  readonly record: Holding & { readonly id: string };
}

/** Rows of a `<dl class="facts">`. */
export function CustomFacts({ kind, record }: CustomFactsProps) {
  return (
    <>
      {useCustomNames(kind, record).map((field) => (
        <Fact key={field} name={fieldTitle(field)}>
          <Was id={record.id} field={field} />
          <CustomValue field={field} value={valueOfField(record, field)} />
        </Fact>
      ))}
    </>
  );
}

/** In order of definition, followed by fields no longer defined. */
function useCustomNames(kind: string, record: CustomFactsProps["record"]): string[] {
  const was = useWas(record.id);
  const names = definedFieldsOf(kind).map(({ key }) => customName(key));
  const others = Object.keys(record.custom_fields ?? {}).map(customName);
  return [...names, ...others.filter((name) => !names.includes(name))].filter(
    (field) => was(field) || valueOfField(record, field) !== undefined,
  );
}
