// Baseline server: responds to every request with the same bytes from memory. Usage: memory.ts FILE; prints its port.

const bytes = await Bun.file(process.argv[2] as string).bytes();
const headers = { "content-type": "application/json" };
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(bytes, { headers }) });
console.log(server.port);

export {};
