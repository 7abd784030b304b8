// Table import on a list. The form and the parser load on first use.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { mayWrite } from "../editing/edit-place.tsx";
import { lastSaved, type Saved } from "../editing/saved.ts";
import { type EditedKind, operationOnMany } from "../kinds/kinds.ts";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { frameText } from "../text/frame.ts";
import { go, hrefHere, parameter, pathname } from "../url/location.ts";

/** Address parameter: an import in progress survives a reload. */
export const TABLE = "table";

/** An import creates and updates records. */
export function mayImport(kind: EditedKind): boolean {
  return mayWrite(kind, "create") && mayWrite(kind, "update") && may(operationOnMany("import", kind));
}

export function TableButton({ kind }: { readonly kind: EditedKind }) {
  if (!mayImport(kind) || parameter(TABLE) !== null) return null;
  return (
    <button type="button" onClick={() => go(hrefHere({ [TABLE]: "yes" }))}>
      Import CSV
    </button>
  );
}

type Form = ComponentType<{ kind: EditedKind; onEnd: (saved: Saved | null) => void }>;

interface TablePlaceProps {
  readonly kind: EditedKind;
  /** Called after a write. */
  onSaved(): void;
}

export function TablePlace({ kind, onSaved }: TablePlaceProps) {
  const isWanted = parameter(TABLE) !== null && mayImport(kind);
  const [form, setForm] = useState<{ readonly Form: Form } | "failed" | null>(null);
  useEffect(() => {
    if (!isWanted || form !== null) return;
    import("./table-import.tsx").then(
      ({ TableImport: Form }) => setForm({ Form }),
      () => setForm("failed"),
    );
  }, [isWanted]);
  if (!isWanted) return null;
  if (form === null) return <Waiting />;
  if (form === "failed") return <p class="note">{frameText.newVersion}</p>;
  const { Form } = form;
  return (
    <Form
      kind={kind}
      onEnd={(saved) => {
        lastSaved.value = saved === null ? null : { ...saved, place: pathname.value };
        go(hrefHere({ [TABLE]: null }), "replace");
        if (saved !== null) onSaved();
      }}
    />
  );
}
