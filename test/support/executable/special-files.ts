// Non-regular files in place of expected regular ones.

/** Named pipe without a writer: opening it for reading blocks forever, unless opened non-blocking. */
export function makePipe(path: string): void {
  const made = Bun.spawnSync(["mkfifo", "-m", "600", path]);
  if (!made.success) throw new Error(`no pipe could be made: ${made.stderr}`);
}
