// The views of lists that a user has saved, as their preferences have them. A view is an address without its instant.

export interface SavedView {
  readonly name: string;
  readonly filter: string;
  readonly order: string;
  readonly columns: string;
}

/** Before the kind of a list, in the name of the preference that has its views. */
export const VIEWS = "views.";

/** What stands there may be of another version, or of nobody's making. */
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
