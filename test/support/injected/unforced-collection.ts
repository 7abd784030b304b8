// Disables the forced garbage collections of scans: each would spend a second on all memory of a test file. Preload of
// every test (bunfig.toml); memory measurements run in other processes.

Bun.gc = () => 0;
