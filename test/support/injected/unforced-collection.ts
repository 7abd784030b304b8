// Scans have the garbage collected when they leave much of it. Here that would be of all that a file of tests has in
// memory, for a second each time. Loaded before every test (bunfig.toml); what measures memory runs in other processes.

Bun.gc = () => 0;
