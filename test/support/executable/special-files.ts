// Non-regular files in place of expected regular ones.

/** Named pipe without a writer: opening it for reading blocks forever, unless opened non-blocking. */
export function makePipe(path: string): void {
  const result = Bun.spawnSync(["mkfifo", "-m", "600", path]);
  if (!result.success) throw new Error(`could not create a pipe: ${result.stderr}`);
}
