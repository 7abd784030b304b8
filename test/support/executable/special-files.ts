// Files that are not regular ones, as somebody may put them where one is expected.

/** A named pipe that nobody writes to: who opens it to read waits for ever, unless told not to. */
export function makePipe(path: string): void {
  const made = Bun.spawnSync(["mkfifo", "-m", "600", path]);
  if (!made.success) throw new Error(`no pipe could be made: ${made.stderr}`);
}
