// List views saved in a user's preferences. A view is a URL without its timestamp.

export interface SavedView {
  readonly name: string;
  readonly filter: string;
  readonly order: string;
  readonly columns: string;
}

/** Prefix of the preference with a list's views, before its kind. */
export const VIEWS = "views.";

/** Skips invalid entries: the preference may come from another version or be malformed. */
export function savedViews(preference: unknown): readonly SavedView[] {
  if (!Array.isArray(preference)) return [];
  return preference.flatMap((each: unknown) => {
    if (typeof each !== "object" || each === null) return [];
    const { name, filter, order, columns } = each as Record<string, unknown>;
    if (typeof name !== "string") return [];
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    return [{ name, filter: text(filter), order: text(order), columns: text(columns) }];
  });
}
