// Lines of source by commit, and of the console alone: ./scripts/bun scripts/lines.ts [COMMIT …], HEAD by default.
// Fixtures, lock files and pictures do not count.

const FOLDERS = ["src", "test", "scripts", "migrations"];
const CONSOLE = /^src\/console\/.*\.tsx?$/;
const LEFT_OUT = /^test\/fixtures\/|\.(lock|webp|svg|snmprec|jsonl?)$/;

const commits = process.argv.slice(2);
for (const commit of commits.length > 0 ? commits : ["HEAD"]) {
  const [source, ofConsole] = linesOf(commit);
  console.log(`${commit}: ${source} lines in src, test, scripts and migrations, ${ofConsole} of them in src/console`);
}

/** @returns lines of all source, and of the console's TypeScript */
function linesOf(commit: string): [number, number] {
  // Everything is added relative to the empty tree.
  const empty = git("hash-object", "-t", "tree", "/dev/null").trim();
  let [source, ofConsole] = [0, 0];
  for (const row of git("diff", "--numstat", "--no-renames", empty, commit, "--", ...FOLDERS).split("\n")) {
    const [added, , path] = row.split("\t");
    if (path === undefined || LEFT_OUT.test(path)) continue;
    source += Number(added);
    if (CONSOLE.test(path)) ofConsole += Number(added);
  }
  return [source, ofConsole];
}

function git(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args]);
  if (exitCode !== 0) throw new Error(stderr.toString().trim());
  return stdout.toString();
}
