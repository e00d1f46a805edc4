export {};

// What runs only once is not worth compiling; `runServer` ends this when the server is ready.
Bun.unsafe.setJITPolicy(10);
const { serveGateway } = await import("./serve-gateway.ts");
await serveGateway();
