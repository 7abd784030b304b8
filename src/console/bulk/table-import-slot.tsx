// Slot for the table import on a list page. The form and the parser load on first use.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { Waiting } from "../components/waiting.tsx";
import { mayWrite } from "../editing/edit-slot.tsx";
import { lastSaved, type Saved } from "../editing/saved.ts";
import { type EditedKind, operationOnMany } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { frameText } from "../text/frame.ts";
import { go, hrefHere, parameter, pathname } from "../url/location.ts";

/** URL parameter of an import in progress, which survives a reload. */
export const TABLE = "table";

/** Whether the user may import tables, which create and update records. */
export function mayImport(kind: EditedKind): boolean {
  return mayWrite(kind, "create") && mayWrite(kind, "update") && may(operationOnMany("import", kind));
}

export function TableButton({ kind }: { readonly kind: EditedKind }) {
  if (!mayImport(kind) || parameter(TABLE) !== null) return null;
  return <ActionButton label="Import CSV" onClick={() => go(hrefHere({ [TABLE]: "yes" }))} />;
}

type Form = ComponentType<{ kind: EditedKind; onEnd: (saved: Saved | null) => void }>;

export function TableImportSlot({ kind, onSaved }: { readonly kind: EditedKind; onSaved(): void }) {
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
        lastSaved.value = saved === null ? null : { ...saved, page: pathname.value };
        go(hrefHere({ [TABLE]: null }), "replace");
        if (saved !== null) onSaved();
      }}
    />
  );
}
