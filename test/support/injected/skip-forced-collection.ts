// No-op for the garbage collections that scans force: each would take a second on the heap of a whole test file.
// Preloaded into every test (bunfig.toml); memory measurements run in other processes.

Bun.gc = () => 0;
