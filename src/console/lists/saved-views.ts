// List views saved in a user's preferences. A view is a list URL without its timestamp.

export interface SavedView {
  readonly name: string;
  readonly filter: string;
  readonly order: string;
  readonly columns: string;
}

/** Prefix of the preference with a list's views; the kind follows. */
export const VIEWS = "views.";

/** Views in a preference. Skips invalid entries: it may be malformed or from another version. */
export function savedViews(preference: unknown): readonly SavedView[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((view: unknown) => {
    if (typeof view !== "object" || view === null) return [];
    const { name, filter, order, columns } = view as Record<string, unknown>;
    if (typeof name !== "string") return [];
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    return [{ name, filter: text(filter), order: text(order), columns: text(columns) }];
  });
}
