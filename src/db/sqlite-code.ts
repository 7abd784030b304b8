// SQLite error codes. Only this directory interprets them.

/** By primary result code: errors of node:sqlite carry only the number. */
const PRIMARY_CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  26: "SQLITE_NOTADB",
};

/** Drizzle wraps the native error, so the code is on the error or on its cause. */
export function sqliteCode(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code, errcode } = each as { code?: unknown; errcode?: unknown };
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
    if (code === "ERR_SQLITE_ERROR" && typeof errcode === "number")
      return PRIMARY_CODES[errcode & 255] ?? `SQLITE_${errcode}`;
  }
  return "";
}

/** Whether the disk is full or failing. */
export function isDiskFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === "SQLITE_FULL" || code.startsWith("SQLITE_IOERR")) return true;
  const system = error instanceof Error && "code" in error ? error.code : null;
  return system === "ENOSPC" || system === "EDQUOT" || system === "EFBIG" || system === "EIO";
}
