// What a record has of the organization's own fields, as facts beside the others: those with a value, or that had one.

import { customName, definedFieldsOf, fieldTitle, type Holding, valueOfField } from "../names/custom-fields.ts";
import { CustomValue } from "../parts/custom-value.tsx";
import { Fact } from "../parts/facts.tsx";
import { useWas, Was } from "./comparison.tsx";

interface CustomFactsProps {
  /** As the API names kinds: `if_entry`. */
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

/** The same as a list of their own; nothing where there are none. */
export function CustomFactList(props: CustomFactsProps) {
  if (useCustomNames(props.kind, props.record).length === 0) return null;
  return (
    <dl class="facts">
      <CustomFacts {...props} />
    </dl>
  );
}

/** In the order in which they were defined, then what is defined no more. */
function useCustomNames(kind: string, record: CustomFactsProps["record"]): string[] {
  const was = useWas(record.id);
  const names = definedFieldsOf(kind).map(({ key }) => customName(key));
  const others = Object.keys(record.custom_fields ?? {}).map(customName);
  return [...names, ...others.filter((name) => !names.includes(name))].filter(
    (field) => was(field) || valueOfField(record, field) !== undefined,
  );
}
