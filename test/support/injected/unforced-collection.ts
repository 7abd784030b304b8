// Disables the forced garbage collections of scans: they would collect all memory of a test file, for a second each
// time. Preload of every test (bunfig.toml); memory measurements run in other processes.

Bun.gc = () => 0;
