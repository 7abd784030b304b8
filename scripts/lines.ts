// Source line counts by commit, in total and for the console: ./scripts/bun scripts/lines.ts [COMMIT …], HEAD by
// default. Fixtures, lock files and pictures are not counted.

const FOLDERS = ["src", "test", "scripts", "migrations"];
const CONSOLE = /^src\/console\/.*\.tsx?$/;
const EXCLUDED = /^test\/fixtures\/|\.(lock|webp|svg|snmprec|jsonl?)$/;

const commits = process.argv.slice(2);
for (const commit of commits.length > 0 ? commits : ["HEAD"]) {
  const [source, consoleLines] = linesOf(commit);
  console.log(
    `${commit}: ${source} lines in src, test, scripts and migrations, ${consoleLines} of them in src/console`,
  );
}

/** Counts the lines of a commit. @returns lines of all source, and of the console's TypeScript */
function linesOf(commit: string): [number, number] {
  // Relative to the empty tree, every line is an added one.
  const empty = git("hash-object", "-t", "tree", "/dev/null").trim();
  let [source, consoleLines] = [0, 0];
  for (const row of git("diff", "--numstat", "--no-renames", empty, commit, "--", ...FOLDERS).split("\n")) {
    const [added, , path] = row.split("\t");
    if (path === undefined || EXCLUDED.test(path)) continue;
    source += Number(added);
    if (CONSOLE.test(path)) consoleLines += Number(added);
  }
  return [source, consoleLines];
}

function git(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args]);
  if (exitCode !== 0) throw new Error(stderr.toString().trim());
  return stdout.toString();
}
