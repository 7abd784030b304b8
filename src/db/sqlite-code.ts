// SQLite's own error codes, translated nowhere but in this folder.

/** Drizzle wraps the native error: the code is on it or on its cause. */
export function sqliteCode(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = (each as { code?: unknown }).code;
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  }
  return "";
}
